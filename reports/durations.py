"""The slowest checks of a run."""

from __future__ import annotations

from gateproof.reports.terminal import Screen
from gateproof.reports.verdicts import RunResult, many


def slowest(screen: Screen, result: RunResult, most: int) -> None:
    """Prints the slowest checks, each with its duration, ID and number of exchanges."""
    checks = [check for rule in result.rules for check in rule.checks if check.duration_s]
    if not most or not checks:
        return
    shown = sorted(checks, key=lambda check: -check.duration_s)[:most]
    in_all = sum(check.duration_s for check in checks)
    share = sum(check.duration_s for check in shown) / in_all
    screen.say(
        screen.paint(f"the slowest {many(len(shown), 'check')}", "bold")
        + f": {share:.0%} of {in_all:.0f} s that all checks took together"
    )
    for check in shown:
        asked = f"  ({many(len(check.exchanges), 'exchange')})" if check.exchanges else ""
        screen.say(f"  {check.duration_s:>7.1f} s  {check.id}{asked}")
    screen.say()
