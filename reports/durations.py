"""Where the time of a run went, with its slowest checks and control actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.reports.terminal import Screen
from gateproof.reports.verdicts import CheckResult, RunResult, many

# What a check can wait for, as the record says it.
_IN_WORDS = {
    "target": "for the target",
    "control": "for the control",
    "expiry": "for something to expire",
    "recovery": "for a recovery",
    "keys": "for new keys",
    "provisioning": "for the provisioning",
    "request": "for a request of the target",
    "log": "for the log",
    "other": "otherwise",
}


def slowest(screen: Screen, result: RunResult, most: int) -> None:
    """Prints the slowest checks, each with its duration, ID, exchanges and waits."""
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
        screen.say(f"  {check.duration_s:>7.1f} s  {check.id}{_details(check)}")
    if waited := waited_in_words(result.run):
        screen.say(f"all checks {waited}")
    screen.say()


def control_costs(screen: Screen, costs: Mapping[str, tuple[int, float]], most: int) -> None:
    """Prints the control actions that took longest together, each with its number of calls."""
    if not most or not costs:
        return
    shown = sorted(costs.items(), key=lambda cost: (-cost[1][1], cost[0]))[:most]
    calls, seconds = (sum(values) for values in zip(*costs.values(), strict=True))
    screen.say(
        screen.paint("control actions", "bold") + f": {many(int(calls), 'call')}, {seconds:.1f} s together"
    )
    for action, (number, took) in shown:
        screen.say(f"  {took:>7.1f} s  {action}  ({many(number, 'call')})")
    screen.say()


def waited_in_words(run: Mapping[str, Any]) -> str:
    """How long the checks waited, and for what; empty if they did not, or if an older record does not say."""
    waits = _waits(run.get("waited_s") or {}, decimals=0)
    return f"waited {', '.join(waits)}" if waits else ""


def _details(check: CheckResult) -> str:
    told = [many(len(check.exchanges), "exchange")] if check.exchanges else []
    told += _waits(check.waited_s, decimals=1)
    return f"  ({', '.join(told)})" if told else ""


def _waits(waited_s: Mapping[str, float], *, decimals: int) -> list[str]:
    longest = sorted(waited_s, key=lambda name: (-waited_s[name], name))
    told = [(f"{waited_s[name]:.{decimals}f}", _IN_WORDS.get(name, "")) for name in longest]
    return [f"{seconds} s {words}" for seconds, words in told if words and float(seconds)]
