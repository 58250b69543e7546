"""Which checks one phase of a run takes, and in what manner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateproof.conformance.checks import homes, races
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.needs import touches_whole_target


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The rules and the phase; where single checks are chosen, those of the rules alone.

    A failure of a rule in `fatal` ends the phase.
    """

    rules: Sequence[str]
    serial: bool
    shuffle: bool = False
    fatal: frozenset[str] = frozenset()
    chosen: frozenset[str] | None = None

    def takes(self, check: Check) -> bool:
        """True for a check of which at least one case belongs to the phase."""
        return (
            check.rule in self.rules
            and not check.whole_run
            and touches_whole_target(check) is self.serial
            and any(map(self.takes_case, check.ids()))
        )

    def takes_case(self, check_id: str) -> bool:
        return self.chosen is None or check_id in self.chosen

    def modules(self, role: str) -> list[str]:
        """Where those checks stand; the other modules need not be looked through."""
        return [name for name, checks in homes(role).items() if any(map(self.takes, checks))]

    def generating(self, role: str) -> int:
        """How many cases of the phase draw their input or run races: a campaign goes on with those."""
        raced = set(races(role))
        return sum(
            len([case for case in check.ids() if self.takes_case(case)])
            for checks in homes(role).values()
            for check in checks
            if self.takes(check) and ("examples" in check.needs or check in raced)
        )
