"""A gateway that opens its addresses one after the other is waited for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gateproof.conformance.cli import main

PROGRAM = str(Path(__file__).with_name("slow_opening_gateway.py"))


def test_gateway_whose_control_opens_last_is_waited_for(
    launched_target: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    target = launched_target(PROGRAM)
    code = main(["run", "--target", str(target), "--only", "DISC-02", "--out", str(target.parent / "out")])

    assert code == 0, capfd.readouterr().out
