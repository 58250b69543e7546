"""A log shows something where something is in it, and it is searched for all tokens of the run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from warm import WARM

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, result_of, written

from gateproof.conformance.targets.file import load

REFERENCE = shlex.join([*WARM, "gateproof.reference.service", "--exit-with-stdin"])
LATER = shlex.join([*WARM, str(Path(__file__).with_name("later_leaking_service.py"))])


def outcome(folder: Path, command: str, logs: str, *only: str) -> tuple[str, str]:
    """The verdict of SECRET-05 on what this shell command starts, and why."""
    target = load(written(folder, ["sh", "-c", f"exec {command}"], f"{HTTP}\n{logs}"))
    result = result_of(target, folder, "SECRET-05", *only)
    rule = next(rule for rule in result.rules if rule.id == "SECRET-05")
    return rule.verdict.value, rule.reason


@pytest.mark.parametrize(
    ("command", "logs", "reason"),
    [
        (f"{REFERENCE} >/dev/null 2>&1", "", "the log stayed empty"),
        (REFERENCE, '[logs]\nfiles = ["mistyped.log"]', "cannot read the log file mistyped.log"),
    ],
)
def test_log_that_shows_nothing_is_no_pass(command: str, logs: str, reason: str, tmp_path: Path) -> None:
    verdict, why = outcome(tmp_path, command, logs)

    assert verdict == "not-testable"
    assert reason in why


def test_log_with_something_in_it_is(tmp_path: Path) -> None:
    assert outcome(tmp_path, REFERENCE, "")[0] == "passed"


def test_token_of_any_call_is_found_in_the_log(tmp_path: Path) -> None:
    assert outcome(tmp_path, LATER, "", "SERVE-01")[0] == "failed"
