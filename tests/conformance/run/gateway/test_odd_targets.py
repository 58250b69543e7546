"""A gateway that is reached in an unusual way is conformant all the same.

`make odd-targets` asks each of them every rule; here it is the walk through an authorization, and what could
be mistaken about addresses, connections and time.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

REFERENCE = ("gateproof.reference.gateway",)
LATE = str(Path(__file__).with_name("late_gateway.py"))
WALK = ("DISC-0[12]", "KEYS-01", "REG-01", "AUTHZ-02", "CODE-0[12]", "REDEEM-01", "VAULT-01")
WHOLE = "GATEPROOF_WHOLE" in os.environ
# What a run needs at most; the late gateway takes most of it.
PATIENCE_S = 1800 if WHOLE else 110

ODD: dict[str, tuple[tuple[str, ...], dict[str, Any], tuple[str, ...]]] = {
    "plain HTTP": (REFERENCE, {"secure": False}, (*WALK, "AUTHZ-19", "SECRET-07")),
    "one origin for base and core": (REFERENCE, {"shared": True}, (*WALK, "INTEROP-01", "TLS-01")),
    "paths under a prefix": (
        REFERENCE,
        {"base": "/agents/v1", "core": "/core/v1"},
        (*WALK, "INTEROP-01", "AUTHZ-19", "ROBUST-02"),
    ),
    "prefixes of one origin, plain HTTP": (
        REFERENCE,
        {"secure": False, "shared": True, "base": "/a/gateway", "core": "/a/core"},
        (*WALK, "SECRET-07"),
    ),
    "HTTP/1.0 without keep-alive": (
        ("gateproof.reference.variants", "gateway", "http-1.0"),
        {},
        (*WALK, "TLS-01", "ROBUST-02"),
    ),
    # Slow walks cost time and no work: a few that look at clocks, by several workers.
    "300 ms late": ((LATE,), {}, ("CODE-01", "CODE-03", "CLAIM-06", "PROXY-02", "REDEEM-02")),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_target_is_conformant(
    name: str, launched_target: Callable[..., Path], record_property: Callable[[str, object], None]
) -> None:
    program, place, rules = ODD[name]
    file = launched_target(*program, **place)
    only = () if WHOLE else ("--no-faults", *(part for rule in rules for part in ("--only", rule)))
    workers = {"300 ms late": 8 if WHOLE else 3}.get(name, 2 if WHOLE else 1)
    done = subprocess.run(
        [*WARM, "gateproof", "run", "--target", str(file), *only, "--workers", str(workers)],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    report = json.loads((file.parent / "gateproof-report" / "report.json").read_text())
    record_property("seconds", report["run"]["duration_s"])

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert report["verdict"] == "conformant"
    # Levels that do not decide count here too: nothing was mistaken for a finding.
    assert [rule["id"] for rule in report["rules"] if rule["verdict"] in {"failed", "error"}] == []
    untested = {
        rule["id"] for rule in report["rules"] if rule["verdict"] == "not-testable" and rule["checks"]
    }
    assert untested <= {"TLS-01"}
