"""Which rules can be tested at a target, and which more with further capabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.rules import Rule, unmet

Checks = Mapping[str, Sequence[Check]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Testability:
    """Whether a rule can be tested; `parts` are the unmet needs of single checks of a testable rule."""

    rule: Rule
    testable: bool
    lacking: tuple[tuple[str, ...], ...] = ()
    parts: frozenset[tuple[str, ...]] = frozenset()
    checked: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """The rules that become testable, and the rules of which more checks can run."""

    rules: tuple[str, ...]
    completed: tuple[str, ...]


def prospects(rules: Iterable[Rule], checks: Checks, offered: frozenset[str]) -> list[Testability]:
    """The testability of each rule, in order."""
    return [_prospect(rule, checks.get(rule.id, ()), offered) for rule in rules]


def gain(before: Sequence[Testability], after: Sequence[Testability]) -> Gain:
    """The difference between two lists of the same rules."""
    pairs = list(zip(before, after, strict=True))
    return Gain(
        rules=tuple(new.rule.id for old, new in pairs if new.testable and not old.testable),
        completed=tuple(
            new.rule.id for old, new in pairs if old.testable and len(new.parts) < len(old.parts)
        ),
    )


def _prospect(rule: Rule, checks: Sequence[Check], offered: frozenset[str]) -> Testability:
    if not checks:
        return Testability(rule=rule, testable=False, checked=False)
    lacking = rule.unmet(offered)
    parts = {group for check in checks for group in unmet(tuple((need,) for need in check.needs), offered)}
    return Testability(rule=rule, testable=not lacking, lacking=lacking, parts=frozenset(parts))
