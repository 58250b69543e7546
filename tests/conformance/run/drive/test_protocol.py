"""Of the phases in which pytest runs a check, those are reported that have a result."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.run.drive import plugin


@pytest.mark.parametrize(
    ("failed", "reported"),
    [([], ["call"]), (["call"], ["call"]), (["setup"], ["setup"]), (["teardown"], ["call", "teardown"])],
)
def test_a_phase_without_a_result_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, failed: list[str], reported: list[str]
) -> None:
    phases = [each for each in ("setup", "call", "teardown") if each != "call" or "setup" not in failed]
    seen: list[str] = []

    def carried_out(_item: Any, *, log: bool, nextitem: Any) -> list[Any]:
        assert not log
        assert nextitem is None
        return [SimpleNamespace(when=each, failed=each in failed) for each in phases]

    monkeypatch.setattr(plugin, "runtestprotocol", carried_out)
    hooks = SimpleNamespace(pytest_runtest_logreport=lambda report: seen.append(report.when))
    item: Any = SimpleNamespace(ihook=hooks)

    assert plugin.pytest_runtest_protocol(item, None)
    assert seen == reported
