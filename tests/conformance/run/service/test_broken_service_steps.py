"""A service that breaks one step of the catalogue fails the step's rule, and no rule escapes because of it.

`make odd-targets` breaks each step with every rule selected.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_steps import escaped, fails_by_its_end, steps_of
from warm import WARM

from gateproof.conformance.wire.ports import free_ports

PROGRAM = str(Path(__file__).with_name("service_without_a_step.py"))
WHOLE = "GATEPROOF_WHOLE" in os.environ
LIFE = "life of the process"
STEPS = steps_of("service")
TARGET = """
[target]
role = "service"
name = "without a step"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
{operation}
"""
OPERATIONS = {
    "http": 'kind = "http"\npath = "/orders"',
    "mcp": 'kind = "mcp"\npath = "/mcp"\ntool = "list_orders"',
}
CASES = [(step, kind) for step in STEPS for kind in OPERATIONS] if WHOLE else [("operation", "mcp")]


@pytest.mark.parametrize(("step", "kind"), CASES)
def test_no_rule_escapes_because_a_step_is_broken(
    step: str, kind: str, tmp_path: Path, judged: Callable[..., dict[str, Any]]
) -> None:
    file = tmp_path / "target.toml"
    start = (sys.executable,) if step == LIFE else WARM
    command = json.dumps([*start, PROGRAM, step, "--exit-with-stdin"])
    file.write_text(TARGET.format(port=free_ports(1)[0], command=command, operation=OPERATIONS[kind]))

    report = judged(file, faults=WHOLE)

    verdicts = {rule["id"]: rule["verdict"] for rule in report["rules"]}
    assert (report["exit_code"], report["verdict"]) == (1, "not-conformant")
    if step == LIFE:
        assert fails_by_its_end(report)
        return
    assert verdicts[STEPS[step]] == "failed"
    assert escaped(report, step) == []
