"""A log shows something where something is in it, and it is searched for all tokens of the run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.verdicts import RunResult

REFERENCE = shlex.join([sys.executable, "-m", "reference.service", "--exit-with-stdin"])
LATER = shlex.join([sys.executable, str(Path(__file__).with_name("later_leaking_service.py"))])
Outcome = Callable[..., tuple[str, str]]


@pytest.fixture
def outcome(launched: Callable[..., object], judged: Callable[..., RunResult]) -> Outcome:
    """The verdict of SECRET-05 on what this shell command starts, and why."""

    def found(command: str, logs: str, *only: str) -> tuple[str, str]:
        result = judged(launched(["sh", "-c", f"exec {command}"], logs), "SECRET-05", *only)
        rule = next(rule for rule in result.rules if rule.id == "SECRET-05")
        return rule.verdict.value, rule.reason

    return found


@pytest.mark.parametrize(
    ("command", "logs", "reason"),
    [
        (f"{REFERENCE} >/dev/null 2>&1", "", "the log stayed empty"),
        (REFERENCE, '[logs]\nfiles = ["mistyped.log"]', "there is no log file mistyped.log"),
    ],
)
def test_log_that_shows_nothing_is_no_pass(command: str, logs: str, reason: str, outcome: Outcome) -> None:
    verdict, why = outcome(command, logs)

    assert verdict == "not-testable"
    assert reason in why


def test_log_with_something_in_it_is(outcome: Outcome) -> None:
    assert outcome(REFERENCE, "")[0] == "passed"


def test_token_of_any_call_is_found_in_the_log(outcome: Outcome) -> None:
    assert outcome(LATER, "", "SERVE-01")[0] == "failed"
