"""The checks of one phase of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateproof.conformance.checks import checks_by_module, races
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.needs import touches_whole_target


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The rules of a phase; with `chosen`, only these checks of the rules.

    If workers share a target, checks that touch the whole target have a phase of their own, which is
    `serial`. If each worker has its own target, all checks are one phase, and those come last: `serial` is
    None. With several such workers, `each` is true: checks that look back are asked of each target. A failure
    of a rule in `fatal` ends the phase.
    """

    rules: Sequence[str]
    serial: bool | None
    each: bool = False
    shuffle: bool = False
    fatal: frozenset[str] = frozenset()
    chosen: frozenset[str] | None = None

    def takes(self, check: Check) -> bool:
        """True if at least one case of the check belongs to the phase."""
        return (
            check.rule in self.rules
            and not check.whole_run
            and not (self.each and check.looks_back)
            and self.serial in {None, touches_whole_target(check)}
            and any(map(self.takes_case, check.ids()))
        )

    def looking_back(self, role: str) -> frozenset[str]:
        """The checks that are asked of each target at its end."""
        return frozenset(
            case
            for checks in checks_by_module(role).values()
            for check in checks
            if self.each and check.looks_back and check.rule in self.rules
            for case in check.ids()
            if self.takes_case(case)
        )

    def takes_case(self, check_id: str) -> bool:
        return self.chosen is None or check_id in self.chosen

    def modules(self, role: str) -> list[str]:
        """The modules with those checks."""
        return [name for name, checks in checks_by_module(role).items() if any(map(self.takes, checks))]

    def generating(self, role: str) -> int:
        """The number of cases with generated input or races, which a campaign repeats."""
        raced = set(races(role))
        return sum(
            len([case for case in check.ids() if self.takes_case(case)])
            for checks in checks_by_module(role).values()
            for check in checks
            if self.takes(check) and ("examples" in check.needs or check in raced)
        )
