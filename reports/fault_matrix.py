"""The faults that fired, by hop, and the verdicts of the checks with these faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateproof.reports.verdicts import CheckResult, RunResult, Verdict, many

# The verdicts that a check with a fault can have, the worst first.
OUTCOMES = (Verdict.FAILED, Verdict.ERROR, Verdict.NOT_TESTABLE, Verdict.OBSERVED, Verdict.PASSED)


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultRow:
    """One fault on one hop: how often it fired, and the rules of its checks by verdict."""

    name: str
    layer: str
    hop: str
    fired: int
    rules: Mapping[Verdict, Sequence[str]]


def fault_rows(result: RunResult) -> list[FaultRow]:
    """All faults of a run by hop and layer, each in the order of first use."""
    met: dict[tuple[str, str, str], list[tuple[CheckResult, int]]] = {}
    for rule in result.rules:
        for check in rule.checks:
            for fault in check.faults:
                key = (str(fault["hop"]), str(fault["layer"]), str(fault["name"]))
                met.setdefault(key, []).append((check, int(fault["fired"])))
    hops, layers = (list(dict.fromkeys(key[place] for key in met)) for place in (0, 1))
    ordered = sorted(met, key=lambda key: (hops.index(key[0]), layers.index(key[1])))
    return [_row(key, met[key]) for key in ordered]


def _row(key: tuple[str, str, str], met: Sequence[tuple[CheckResult, int]]) -> FaultRow:
    hop, layer, name = key
    rules = {
        outcome: tuple(dict.fromkeys(check.rule for check, _ in met if check.verdict is outcome))
        for outcome in OUTCOMES
    }
    return FaultRow(
        name=name,
        layer=layer,
        hop=hop,
        fired=sum(times for _, times in met),
        rules={outcome: ids for outcome, ids in rules.items() if ids},
    )


def faults_in_a_line(result: RunResult) -> str:
    """How many faults fired in how many checks, and how many of these failed; empty without faults."""
    checks = [check for rule in result.rules for check in rule.checks if check.faults]
    if not checks:
        return ""
    rows = fault_rows(result)
    fired = sum(row.fired > 0 for row in rows)
    broken = [check for check in checks if check.verdict in {Verdict.FAILED, Verdict.ERROR}]
    idle = len(rows) - fired
    said = f"faults: {fired} fired in {many(len(checks), 'check')}"
    return ", ".join(
        [
            said,
            *([f"{idle} never did"] if idle else []),
            f"{len(broken)} of the checks did not hold" if broken else "all of them held",
        ]
    )
