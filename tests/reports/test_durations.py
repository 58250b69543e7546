"""The slowest checks of a run, and the dearest control actions, are listed when asked for."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from gateproof.reports.durations import control_costs, slowest, waited_in_words
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


def test_waits_are_told_for_each_check_and_for_all() -> None:
    out = io.StringIO()
    waiting = CheckResult(
        id="VAULT-06/silence",
        rule="VAULT-06",
        verdict=Verdict.PASSED,
        duration_s=4.1,
        waited_s={"expiry": 1.04, "target": 3.0},
    )
    rule = replace(result().rules[0], checks=(waiting,))

    slowest(
        screen(out), replace(result(), rules=(rule,), run={"waited_s": {"target": 41.2, "keys": 20.6}}), 1
    )

    assert "4.1 s  VAULT-06/silence  (3.0 s for the target, 1.0 s for something to expire)" in out.getvalue()
    assert "all checks waited 41 s for the target, 21 s for new keys" in out.getvalue()


@pytest.mark.parametrize("run", [{}, {"waited_s": {}}, {"waited_s": {"target": 0}}])
def test_run_that_waited_for_nothing_says_nothing_of_it(run: dict[str, object]) -> None:
    assert waited_in_words(run) == ""


def test_run_without_a_check_says_nothing() -> None:
    out = io.StringIO()

    slowest(screen(out), replace(result(), rules=()), 5)

    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (
            2,
            [
                "control actions: 6 calls, 7.0 s together",
                "4.0 s  create_resource  (2 calls)",
                "2.0 s  create_project  (1 call)",
                "",
            ],
        ),
        (0, []),
    ],
)
def test_dearest_control_actions_come_first(most: int, expected: list[str]) -> None:
    out = io.StringIO()
    costs = {"create_project": (1, 2.0), "logs": (3, 1.0), "create_resource": (2, 4.0)}

    control_costs(screen(out), costs, most)

    lines = out.getvalue().split("\n")[:-1]
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))


def test_run_without_a_control_says_nothing_of_it() -> None:
    out = io.StringIO()

    control_costs(screen(out), {}, 5)

    assert out.getvalue() == ""
