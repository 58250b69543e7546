"""Of the phases in which pytest runs a check, those are reported that have a result."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.run.drive import plugin


@pytest.mark.parametrize("found", [["call"], ["setup", "call"], ["call", "teardown"]])
def test_a_phase_without_a_result_is_not_reported(monkeypatch: pytest.MonkeyPatch, found: list[str]) -> None:
    """A set-up or a tear-down has a result if it failed; pytest takes it for passed."""
    seen: list[str] = []

    def carried_out(_item: Any, *, log: bool, nextitem: Any) -> list[Any]:
        assert not log
        assert nextitem is None
        results = {each: {"gateproof": {}} for each in found}
        return [SimpleNamespace(when=each, **results.get(each, {})) for each in ("setup", "call", "teardown")]

    monkeypatch.setattr(plugin, "runtestprotocol", carried_out)
    hooks = SimpleNamespace(pytest_runtest_logreport=lambda report: seen.append(report.when))
    item: Any = SimpleNamespace(ihook=hooks)

    assert plugin.pytest_runtest_protocol(item, None)
    assert seen == found
