"""A core key set on a host that the target file does not name is asked for by nobody, and fails nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = str(Path(__file__).with_name("keys_elsewhere_gateway.py"))


def test_service_that_would_ask_for_the_keys_there_is_left_out(
    launched_target: Callable[..., Path], judged: Callable[..., dict[str, Any]]
) -> None:
    report = judged(launched_target(PROGRAM, secure=False), "REDEEM-01")

    checks = {check["id"]: check for rule in report["rules"] for check in rule["checks"]}
    steps = checks["REDEEM-01/nine_steps_from_401_to_the_merchants_data"]
    assert steps["verdict"] == "not-testable"
    assert "https://keys.example/core" in steps["message"]
    assert '[target] origins = ["https://keys.example:443"]' in steps["message"]
    assert {check["verdict"] for check in checks.values()} <= {"passed", "not-testable"}
