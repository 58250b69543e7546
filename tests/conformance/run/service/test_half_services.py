"""A service that works up to one step passes no check of what comes after it.

It is deader than it looks: it introduces itself, and refuses every wrong token as it refuses every right one.
`make odd-targets` tries each step with each refusal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.wire.ports import free_ports

PROGRAM = str(Path(__file__).with_name("half_service.py"))
WHOLE = "GATEPROOF_WHOLE" in os.environ
TARGET = """
[target]
role = "service"
name = "half"
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
# Checks that may pass once a step works, in the order of the steps.
SHOWN: dict[str, tuple[str, ...]] = {
    "introduction": (
        "META-0[1235]/*",
        "CHAL-02/*",
        "TLS-01/*",
        # Whatever it answers, it looks at tokens, and fetches the keys for that also a second time.
        "BACK-06/first_fetch_of_the_keys_is_not_the_last",
    ),
    "validation": (),
    "merchant": (
        "BACK-0[145]/*",
        # What the service had in its hands reached nobody.
        *("SECRET-0[234]/*_reached_no_agent", "SECRET-0[578]/*"),
    ),
}
STEPS = tuple(SHOWN)
REFUSALS = (401, 403, 503)
CASES = (
    [(step, status, kind) for step in STEPS for status in REFUSALS for kind in OPERATIONS]
    if WHOLE
    else [("introduction", 401, "mcp"), ("validation", 403, "http"), ("merchant", 503, "http")]
)


@pytest.mark.parametrize(("last", "status", "kind"), CASES)
def test_no_check_passes_of_what_comes_after_the_last_step_that_works(
    last: str, status: int, kind: str, tmp_path: Path, judged: Callable[..., dict[str, Any]]
) -> None:
    file = tmp_path / "half.toml"
    command = json.dumps([*WARM, PROGRAM, last, str(status), "--exit-with-stdin"])
    file.write_text(TARGET.format(port=free_ports(1)[0], command=command, operation=OPERATIONS[kind]))

    report = judged(file, faults=WHOLE)

    shown = [glob for step in STEPS[: STEPS.index(last) + 1] for glob in SHOWN[step]]
    found = [check for rule in report["rules"] for check in rule["checks"]]
    passed = [check["id"] for check in found if check["verdict"] == "passed"]
    assert [name for name in passed if not any(fnmatchcase(name, glob) for glob in shown)] == []
    assert [check["id"] for check in found if check["verdict"] == "error"] == []
    assert report["exit_code"] == 1
