"""Which rules can be tested at a target, and which more with further capabilities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

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


def only(prospects: Iterable[Testability], testable: Collection[str], lacking: str) -> list[Testability]:
    """The same rules; all of them except these become not testable, because one need is missing."""
    return [
        each if each.rule.id in testable else replace(each, testable=False, lacking=((lacking,),))
        for each in prospects
    ]


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
    of_checks = [unmet(tuple((need,) for need in check.needs), offered) for check in checks]
    # A rule of which no check can run is not testable.
    lacking = rule.unmet(offered) or (() if not all(of_checks) else of_checks[0])
    parts = frozenset(group for groups in of_checks for group in groups)
    return Testability(rule=rule, testable=not lacking, lacking=lacking, parts=parts)
