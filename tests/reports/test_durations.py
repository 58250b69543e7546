"""The slowest checks of a run are listed when asked for."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from gateproof.reports.durations import slowest
from gateproof.reports.terminal import screen
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict


def result() -> RunResult:
    checks = tuple(
        CheckResult(id=f"REG-01/{name}", rule="REG-01", verdict=Verdict.PASSED, duration_s=took)
        for name, took in (("short", 1.0), ("long", 6.0), ("middle", 3.0), ("not_run", 0.0))
    )
    rule = RuleResult(
        id="REG-01", level="spec", title="t", section="s", verdict=Verdict.PASSED, reason="", checks=checks
    )
    return RunResult(
        role="gateway", verdict=RunVerdict.CONFORMANT, reason="", rules=(rule,), target={}, run={}
    )


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (2, ["the slowest 2 checks: 90% of 10 s", "6.0 s  REG-01/long", "3.0 s  REG-01/middle", ""]),
        (9, ["the slowest 3 checks", "long", "middle", "short", ""]),
        (0, []),
    ],
)
def test_slowest_checks_come_first(most: int, expected: list[str]) -> None:
    out = io.StringIO()

    slowest(screen(out), result(), most)

    lines = out.getvalue().split("\n")[:-1]
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))


def test_run_without_a_check_says_nothing() -> None:
    out = io.StringIO()

    slowest(screen(out), replace(result(), rules=()), 5)

    assert out.getvalue() == ""
