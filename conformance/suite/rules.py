"""The rules, read from the catalogue; unknown words in it are an error."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from gateproof.conformance.suite.vocabulary import FAMILIES, LEVELS, NEEDS, ROLES, SECTIONS, STEPS
from gateproof.package import ROOT
from gateproof.reports.families import family_of

# All groups must be met; a group is met by any one of its needs.
Needs = tuple[tuple[str, ...], ...]

_PROSE = ("title", "holds", "why", "section", "how")
_REQUIRED = ("level", "roles", "needs", *_PROSE, "by_hand")
_OPTIONAL = ("optional_needs", "standard", "next_step", "steps")
_LIST_OF_NEEDS = "a list of needs; alternatives are a nested list"


class CatalogueError(Exception):
    """A catalogue file is invalid: names the file, the rule and the key."""


class UnknownRuleError(ValueError):
    """A rule ID or pattern matches no rule; the message names the nearest one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One thing that an implementation must do, and why: one table of the catalogue.

    `title` and `holds` say what must be true of the target: in one line, and precisely. `why` says what goes
    wrong if it is not. `how` says what the checks of the rule do, and `by_hand` has shell commands with which
    a person can test the rule. `section` is the place in the specification. `next_step` says what the
    operator of a service should do if the rule fails. `steps` are requests that checks of other rules build
    on: if one is not answered as it must be, this rule has failed.
    """

    id: str
    level: str
    roles: tuple[str, ...]
    needs: Needs
    optional_needs: Needs
    title: str
    holds: str
    why: str
    section: str
    standard: str | None
    how: str
    by_hand: str
    next_step: str = ""
    steps: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        return family_of(self.id)

    def unmet(self, offered: Collection[str]) -> Needs:
        """The needs of this rule that the target does not meet."""
        return unmet(self.needs, offered)


class Catalogue(Mapping[str, Rule]):
    """All rules by ID, in their listed order."""

    __slots__ = ("_rules", "_sources")

    def __init__(self, rules: Iterable[Rule], sources: Sequence[tuple[str, bytes]]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._sources = tuple(sources)

    def __getitem__(self, rule_id: str) -> Rule:
        return self._rules[rule_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def named(self, rule_id: str) -> Rule:
        """The rule with this ID in any case; the error for an unknown ID names the nearest one."""
        rule = self._rules.get(rule_id.upper())
        if rule is None:
            raise UnknownRuleError(
                f"no rule is called {rule_id!r}{_rule_hint(rule_id.upper(), self._rules, '01')}"
            )
        return rule

    def for_role(self, role: str) -> tuple[Rule, ...]:
        """The rules that judge implementations of this role."""
        return tuple(rule for rule in self._rules.values() if role in rule.roles)

    def family(self, name: str) -> tuple[Rule, ...]:
        """The rules of this family."""
        return tuple(rule for rule in self._rules.values() if rule.family == name)

    def digest(self) -> str:
        """SHA-256 of the names and contents of the catalogue files; it identifies the rules of a report."""
        import hashlib  # noqa: PLC0415 - listing the rules does without OpenSSL

        total = hashlib.sha256()
        for name, raw in self._sources:
            total.update(f"{name}\0{len(raw)}\0".encode() + raw)
        return total.hexdigest()


def unmet(needs: Needs, offered: Collection[str]) -> Needs:
    """The groups without any need that the target meets."""
    return tuple(group for group in needs if not any(need in offered for need in group))


@cache
def load() -> Catalogue:
    """The catalogue that ships with the package."""
    # Not with importlib.resources: importing it takes longer than reading all files.
    folder = ROOT / "conformance" / "catalogue"
    return parse([(path.name, path.read_bytes()) for path in sorted(folder.glob("*.toml"))])


def parse(sources: Sequence[tuple[str, bytes]]) -> Catalogue:
    """Parses the catalogue files, one per family."""
    by_family = {name.removesuffix(".toml").upper(): (name, raw) for name, raw in sources}
    for family, (name, _) in by_family.items():
        if family not in FAMILIES:
            raise CatalogueError(f"{name}: no family is called {family!r}{_hint(family, FAMILIES)}")
    ordered = [by_family[family] for family in FAMILIES if family in by_family]
    catalogue = Catalogue((rule for name, raw in ordered for rule in _read(name, raw)), ordered)
    _refuse_two_owners(catalogue)
    return catalogue


def _refuse_two_owners(catalogue: Catalogue) -> None:
    owner: dict[str, str] = {}
    for rule in catalogue.values():
        for step in rule.steps:
            if owner.setdefault(step, rule.id) != rule.id:
                raise CatalogueError(f"{rule.id}: steps: {step!r} belongs to {owner[step]} already")


def select(rules: Iterable[Rule], only: Sequence[str] = (), skip: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules that match any of `only` (all, if empty) and none of `skip`."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 - most commands select nothing

    rules = tuple(rules)
    ids = [rule.id for rule in rules]

    def matched(patterns: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for pattern in patterns:
            hits = {rule_id for rule_id in ids if fnmatchcase(rule_id, pattern.upper())}
            if not hits:
                raise UnknownRuleError(f"no rule matches {pattern!r}{_rule_hint(pattern.upper(), ids)}")
            found |= hits
        return found

    wanted = matched(only) if only else set(ids)
    unwanted = matched(skip)
    return tuple(rule for rule in rules if rule.id in wanted and rule.id not in unwanted)


def _read(name: str, raw: bytes) -> Iterator[Rule]:
    try:
        tables = tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise CatalogueError(f"{name}: {problem}") from problem
    family = name.removesuffix(".toml").upper()
    if not tables:
        raise CatalogueError(f"{name}: holds no rule")
    for rule_id, fields in tables.items():
        number = rule_id.removeprefix(f"{family}-")
        if len(number) != 2 or not number.isdecimal():
            raise CatalogueError(f"{name}: {rule_id}: expected an ID like {family}-01")
        if not isinstance(fields, dict):
            raise CatalogueError(f"{name}: {rule_id}: expected a table")
        yield _Entry(name, rule_id, fields).rule()


@dataclass(frozen=True, slots=True)
class _Entry:
    """One table of a catalogue file while it is being checked."""

    file: str
    rule_id: str
    fields: Mapping[str, Any]

    def rule(self) -> Rule:
        known = (*_REQUIRED, *_OPTIONAL)
        for key in self.fields:
            if key not in known:
                self._refuse(key, f"unknown key{_hint(key, known)}")
        for key in _REQUIRED:
            if key not in self.fields:
                self._refuse(key, "missing")
        level = self._word("level", self.fields["level"], LEVELS)
        standard = self._prose("standard") if "standard" in self.fields else None
        if level == "rfc" and standard is None:
            self._refuse("standard", "missing: a rule of level rfc names its standard")
        return Rule(
            id=self.rule_id,
            level=level,
            roles=self._roles(),
            needs=self._needs("needs"),
            optional_needs=self._needs("optional_needs"),
            title=self._title(),
            holds=self._prose("holds"),
            why=self._prose("why"),
            section=self._section(),
            standard=standard,
            how=self._prose("how"),
            by_hand=self._text("by_hand").strip("\n"),
            next_step=self._prose("next_step") if "next_step" in self.fields else "",
            steps=self._steps(),
        )

    def _refuse(self, key: str, problem: str) -> NoReturn:
        raise CatalogueError(f"{self.file}: {self.rule_id}: {key}: {problem}")

    def _text(self, key: str) -> str:
        text = self.fields[key]
        if not isinstance(text, str) or not text.strip():
            self._refuse(key, "expected a text that is not empty")
        return text

    def _prose(self, key: str) -> str:
        return " ".join(self._text(key).split())

    def _title(self) -> str:
        if "\n" in self._text("title").strip():
            self._refuse("title", "expected one line")
        return self._prose("title")

    def _word(self, key: str, word: object, known: Collection[str]) -> str:
        if not isinstance(word, str) or word not in known:
            self._refuse(key, f"unknown value {word!r}{_hint(str(word), known)}")
        return word

    def _roles(self) -> tuple[str, ...]:
        roles = self.fields["roles"]
        if not isinstance(roles, list) or not roles:
            self._refuse("roles", "expected a list of at least one role")
        words = tuple(self._word("roles", role, ROLES) for role in roles)
        if len(set(words)) != len(words):
            self._refuse("roles", "a role is listed twice")
        return words

    def _needs(self, key: str) -> Needs:
        listed = self.fields.get(key, [])
        if not isinstance(listed, list):
            self._refuse(key, f"expected {_LIST_OF_NEEDS}")
        groups = [group if isinstance(group, list) else [group] for group in listed]
        if not all(groups):
            self._refuse(key, f"an empty group of alternatives; expected {_LIST_OF_NEEDS}")
        return tuple(tuple(self._word(key, need, NEEDS) for need in group) for group in groups)

    def _steps(self) -> tuple[str, ...]:
        listed = self.fields.get("steps", [])
        if not isinstance(listed, list):
            self._refuse("steps", "expected a list of steps")
        return tuple(self._word("steps", step, STEPS) for step in listed)

    def _section(self) -> str:
        section = self._prose("section")
        heading, _, part = section.partition(" > ")
        parts = SECTIONS.get(heading)
        if parts is None:
            self._refuse("section", f"unknown heading {heading!r}{_hint(heading, SECTIONS)}")
        if part and part not in parts:
            self._refuse("section", f"unknown part {part!r} of {heading!r}{_hint(part, parts)}")
        return section


def _rule_hint(pattern: str, ids: Collection[str], first: str = "*") -> str:
    """Suggests the nearest ID. The family is corrected first: typing errors are more often there."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 - needed by a mistake only

    family, _, number = pattern.partition("-")
    near = _nearest(family, {family_of(rule_id) for rule_id in ids})
    guess = f"{near}-{number.zfill(2) if number.isdecimal() else number or first}"
    if any(fnmatchcase(rule_id, guess) for rule_id in ids):
        return f"; did you mean {guess!r}?"
    return _hint(pattern, ids)


def _hint(word: str, known: Collection[str]) -> str:
    nearest = _nearest(word, known)
    return f"; did you mean {nearest!r}?" if nearest else ""


def _nearest(word: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - needed by a mistake only

    return next(iter(get_close_matches(word, known, n=1, cutoff=0.5)), "")
