"""What `--no-faults` and `--examples 0` leave out is not testable and says so; the rest is tested as ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.checks import index
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite.rules import load
from gateproof.reports.verdicts import RunVerdict, Verdict


@pytest.mark.parametrize(
    ("asked", "need", "said", "only"),
    [
        (
            {"faults": False},
            "faults",
            "left out by --no-faults",
            ("VAULT-06", "VAULT-10", "SECRET-06", "ROBUST-02", "ROBUST-03"),
        ),
        ({"examples": 0}, "examples", "left out by --examples 0", ("ROBUST-01", "ROBUST-04", "AUTHZ-06")),
    ],
)
def test_what_needs_it_is_not_tested_and_nothing_else(
    asked: dict[str, Any], need: str, said: str, only: tuple[str, ...], tmp_path: Path
) -> None:
    checks = {name: each for found in index("gateway").values() for each in found for name in each.ids()}
    chosen = frozenset(name for name, check in checks.items() if check.rule in only)
    # A few that need nothing of the kind are enough to see that they are asked.
    kept = {name for name in chosen if need in checks[name].needs} | set(sorted(chosen)[::6])
    options = RunOptions(seed=7, chosen=frozenset(kept), **asked)
    asked_for = [load()[rule] for rule in only]

    result = carry_out(Embedded(), asked_for, options, lambda _: None, tmp_path)

    assert result.verdict is not RunVerdict.NOT_CONFORMANT
    for rule in result.rules:
        for check in rule.checks:
            left_out = need in checks[check.id].needs
            assert (check.verdict is Verdict.NOT_TESTABLE and check.message == said) == left_out, check.id
            assert not (check.faults and need == "faults")
