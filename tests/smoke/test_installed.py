"""What was installed loads on this Python, and answers as a command."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Warnings are errors here: what a newer Python deprecates is to be seen before it is gone. Programs are left
# out, and the engine of the mutants, which is one of another environment.
LOAD_ALL = """
import importlib, pkgutil
import gateproof
for found in pkgutil.walk_packages(gateproof.__path__, "gateproof."):
    if not found.name.endswith(("__main__", ".mutation.engine")):
        importlib.import_module(found.name)
"""


def gateproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("gateproof")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_every_module_loads_without_a_warning() -> None:
    command = [sys.executable, "-W", "error", "-c", LOAD_ALL]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert loaded.returncode == 0, loaded.stderr


def test_the_command_tells_its_version() -> None:
    answer = gateproof("--version")
    assert answer.returncode == 0
    assert importlib.metadata.version("gateproof") in answer.stdout


def test_the_command_knows_its_rules() -> None:
    answer = gateproof("list")
    assert answer.returncode == 0
    assert "REDEEM-05" in answer.stdout


def test_the_command_refuses_what_it_does_not_know() -> None:
    answer = gateproof("certainly-not-a-command")
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
