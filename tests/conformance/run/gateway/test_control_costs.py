"""Control actions are counted, failed ones too, and the processes of a run are added up."""

from __future__ import annotations

from typing import Any

import pytest

from gateproof.conformance.kit.gateway.control_costs import ControlCosts
from gateproof.conformance.kit.gateway.received import RunTotals
from gateproof.conformance.run.gateway.recording_control import RecordingControl
from gateproof.conformance.targets.control import ControlFailed


class Control:
    def call(self, action: str, /, **_arguments: Any) -> dict[str, Any]:
        if action == "rotate_keys":
            raise ControlFailed(action, "no")
        return {}


def test_each_call_is_counted_even_if_it_fails() -> None:
    costs, control = ControlCosts(), Control()
    recording = RecordingControl(control, lambda _id, _secret: None, costs)  # type: ignore[arg-type]
    for _ in range(2):
        recording.call("create_project", name="a")
    with pytest.raises(ControlFailed):
        recording.call("rotate_keys")
    assert {action: calls for action, (calls, _) in costs.to_json().items()} == {
        "create_project": 2,
        "rotate_keys": 1,
    }
    assert all(seconds >= 0 for _, seconds in costs.to_json().values())


def test_processes_are_added_up() -> None:
    one, other = (
        RunTotals(control={"logs": (1, 0.5)}),
        RunTotals(control={"logs": (2, 1.0), "describe": (1, 0.1)}),
    )
    one.add(RunTotals.from_json(other.to_json()))
    assert one.control == {"logs": (3, 1.5), "describe": (1, 0.1)}
