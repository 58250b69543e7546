"""Faults are counted by name, layer and hop, and told in one line."""

from __future__ import annotations

import io
from typing import Any

import pytest

from gateproof.reports.fault_matrix import fault_rows, faults_in_a_line
from gateproof.reports.summary import render
from gateproof.reports.terminal import screen, summary
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, Verdict, run_verdict


def check(verdict: Verdict, *faults: tuple[str, int]) -> CheckResult:
    told: tuple[dict[str, Any], ...] = tuple(
        {"name": name, "layer": "bytes", "hop": "gateway to merchant", "fired": times}
        for name, times in faults
    )
    return CheckResult(id=f"VAULT-06/{len(told)}", rule="VAULT-06", verdict=verdict, faults=told)


def run_of(*checks: CheckResult) -> RunResult:
    rule = RuleResult(
        id="VAULT-06",
        verdict=max((each.verdict for each in checks), default=Verdict.PASSED, key=list(Verdict).index),
        checks=checks,
        reason="",
        level="entailed",
        title="Trouble is no rejection",
        section="States and transitions",
    )
    verdict, reason = run_verdict([rule], strict=False, certify=False)
    return RunResult(role="gateway", verdict=verdict, reason=reason, rules=(rule,), target={}, run={})


@pytest.mark.parametrize(
    ("checks", "line"),
    [
        ([], ""),
        ([check(Verdict.PASSED)], ""),
        ([check(Verdict.PASSED, ("a", 1))], "faults: 1 fired in 1 check, all of them held"),
        (
            [check(Verdict.PASSED, ("a", 1), ("b", 3)), check(Verdict.FAILED, ("a", 2))],
            "faults: 2 fired in 2 checks, 1 of the checks did not hold",
        ),
        (
            [check(Verdict.ERROR, ("a", 0)), check(Verdict.PASSED, ("b", 1))],
            "faults: 1 fired in 2 checks, 1 never did, 1 of the checks did not hold",
        ),
    ],
)
def test_faults_of_a_run_are_one_line(checks: list[CheckResult], line: str) -> None:
    result = run_of(*checks)
    said = io.StringIO()
    summary(screen(said), result)

    assert faults_in_a_line(result) == line
    assert [each for each in said.getvalue().splitlines() if each.startswith("faults")] == (
        [line] if line else []
    )


def test_one_fault_under_several_checks_is_one_row() -> None:
    (row,) = fault_rows(run_of(check(Verdict.PASSED, ("a", 1)), check(Verdict.FAILED, ("a", 2))))

    assert row.fired == 3
    assert row.rules == {Verdict.FAILED: ("VAULT-06",), Verdict.PASSED: ("VAULT-06",)}


def test_summary_counts_faults_by_hop_and_layer() -> None:
    text = render(run_of(check(Verdict.PASSED, ("a", 1), ("b", 2))))["summary.md"].decode("utf-8")

    assert "### Faults: 2 fired in 1 check, all of them held" in text
    assert "| gateway to merchant | bytes | 2 | 3 |  |  |  |  | 2 |" in text
    assert "Faults" not in render(run_of(check(Verdict.PASSED)))["summary.md"].decode("utf-8")
