"""With free ports in the target file, each worker starts a gateway of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.cli import main

# Notes where it listens, and becomes the reference, or a gateway that ends by itself.
PROGRAM = """
import os, sys
with open("started", "a") as file:
    file.write(sys.argv[sys.argv.index("--base-url") + 1] + "\\n")
if open("started").read().count("\\n") > int(os.environ.get("GOOD", "9")):
    os.execv(sys.executable, [sys.executable, "ending.py", *sys.argv[1:]])
os.execv(sys.executable, [sys.executable, "-m", "gateproof.reference.gateway", *sys.argv[1:]])
"""
# Ends as soon as its first agent has registered.
ENDING = """
import os, subprocess, sys, time
with open("of-the-ending-one", "w") as said:
    child = subprocess.Popen(
        [sys.executable, "-m", "gateproof.reference.gateway", *sys.argv[1:]], stdout=said, stderr=said
    )
while child.poll() is None and "/api/register" not in open("of-the-ending-one").read():
    time.sleep(0.05)
child.kill()
child.wait()
os._exit(7)
"""
TARGET = """
[target]
role = "gateway"
name = "many"
base_url = "http://127.0.0.1:{port}"
core_url = "http://127.0.0.1:{port:core}"
[launch]
command = COMMAND
[control]
url = "http://127.0.0.1:{port:control}/control"
"""
ADDRESSES = ("--base-url", "http://127.0.0.1:{port}", "--core-url", "http://127.0.0.1:{port:core}")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "gateway.py").write_text(PROGRAM)
    (tmp_path / "ending.py").write_text(ENDING)
    control = ("--control-url", "http://127.0.0.1:{port:control}/control")
    command = [sys.executable, "gateway.py", *ADDRESSES, *control]
    (tmp_path / "target.toml").write_text(TARGET.replace("COMMAND", json.dumps(command)))
    return tmp_path / "target.toml"


def report(target: Path, *options: str) -> dict[str, Any]:
    out = target.parent / "out"
    main(["run", "--target", str(target), "--workers", "2", "--quiet", "--out", str(out), *options])
    read: dict[str, Any] = json.loads((out / "report.json").read_text())
    return read


def test_each_worker_has_a_gateway_of_its_own(target: Path) -> None:
    found = report(target, "--only", "KEYS-0[24]", "--only", "CODE-03", "--only", "SECRET-05")

    started = (target.parent / "started").read_text().split()
    assert len(started) == len(set(started)) == 2
    assert found["verdict"] == "conformant"
    checks = [check["id"] for rule in found["rules"] for check in rule["checks"]]
    looking_back = "SECRET-05/tokens_of_other_checks_are_not_in_the_logs"
    assert checks.count(looking_back) == 2, "each log is searched"


def test_gateway_that_ends_is_told_apart_from_the_others(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOD", "1")
    found = report(target, "--only", "CODE-*", "--only", "ROBUST-01")

    # A check that was being asked may fail by itself; else it says that the target has ended.
    assert found["verdict"] == "not-conformant"
    verdicts = {check["verdict"] for rule in found["rules"] for check in rule["checks"]}
    assert {"failed", "passed"} <= verdicts
