"""A gateway that may be killed and started again is asked afterwards what it acknowledged before."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.cli import main

# Keeps its data below the folder for temporary files, which stays the same, or nowhere.
PROGRAM = """
import os, sys
kept = ["--state-file", os.path.join(os.environ["TMPDIR"], "state")] if sys.argv[1] == "durable" else []
command = [sys.executable, "-m", "gateproof.reference.gateway", *kept, *sys.argv[2:]]
os.execv(sys.executable, command)
"""
TARGET = """
[target]
role = "gateway"
name = "restarted"
base_url = "http://127.0.0.1:{port}"
core_url = "http://127.0.0.1:{port:core}"
[launch]
command = COMMAND
RESTART
[control]
url = "http://127.0.0.1:{port:control}/control"
"""
ADDRESSES = ("--base-url", "http://127.0.0.1:{port}", "--core-url", "http://127.0.0.1:{port:core}")
CONTROL = ("--control-url", "http://127.0.0.1:{port:control}/control")
AFTER = "CODE-02/used_code_stays_used_after_a_restart"
SERVES = "ROBUST-02/normal_flow_works_after_the_target_was_killed"


def ran(folder: Path, memory: str, restart: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a run of two rules, and its checks."""
    (folder / "gateway.py").write_text(PROGRAM)
    command = json.dumps([sys.executable, "gateway.py", memory, *ADDRESSES, *CONTROL])
    target = folder / "target.toml"
    target.write_text(TARGET.replace("COMMAND", command).replace("RESTART", restart))
    asked = ("--only", "CODE-02", "--only", "ROBUST-02", "--no-faults", "--quiet")
    code = main(["run", "--target", str(target), *asked, "--out", str(folder / "out")])
    report = json.loads((folder / "out" / "report.json").read_text())
    return code, {check["id"]: check for rule in report["rules"] for check in rule["checks"]}


def test_durable_gateway_passes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, checks = ran(tmp_path, "durable", "restart = true")
    assert code == 0, capfd.readouterr().out
    assert [checks[each]["verdict"] for each in (AFTER, SERVES)] == ["passed", "passed"]


def test_gateway_that_forgets_all_is_failed(tmp_path: Path) -> None:
    code, checks = ran(tmp_path, "forgetful", "restart = true")
    assert (code, checks[SERVES]["verdict"]) == (1, "failed")
    assert "does not know its Resources any more" in checks[AFTER]["message"]


def test_gateway_that_may_not_be_killed_is_not_asked(tmp_path: Path) -> None:
    code, checks = ran(tmp_path, "forgetful", "")
    assert code == 0
    assert checks[AFTER]["verdict"] == "not-testable"
    assert "restart = true under [launch]" in checks[AFTER]["message"]
