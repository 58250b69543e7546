"""The embedded service is there once for each worker, with a world of its own, and the same is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite.rules import load
from gateproof.reports.verdicts import CheckResult, Verdict

RULES = ("META-01", "CHAL-01", "CHAL-02", "SERVE-01", "BACK-02", "SECRET-02", "SECRET-05")


@pytest.mark.parametrize("operation", ["http", "mcp"])
def test_one_worker_and_two_find_the_same(operation: str, tmp_path: Path) -> None:
    found: list[dict[str, Verdict]] = []
    for workers in (1, 2):
        results: list[CheckResult] = []
        target = embedded_reference("service", "mcp" if operation == "mcp" else "http")
        options = RunOptions(role="service", seed=7, workers=workers)
        rules = [load()[rule] for rule in RULES]
        result = carry_out(target, rules, options, results.append, tmp_path / str(workers))
        assert result.run["complete"]
        found.append({each.id: each.verdict for each in results})
    assert found[0] == found[1]
    assert Verdict.FAILED not in found[0].values()
    # The log of every copy is searched by whoever started it.
    assert found[1]["SECRET-05/tokens_of_the_run_are_not_in_the_logs"] is Verdict.PASSED
