"""The embedded gateway's own instance is forked from a process that has loaded it; no other program is."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack

import pytest

from gateproof.conformance.run.prepare.fork_server import restarted_fast
from gateproof.package import PYTHON_MODULE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
ELSEWHERE = ("--base-url", "http://elsewhere.example:1", "--core-url", "http://elsewhere.example:2")
PLAIN = (*PYTHON_MODULE, "gateproof.reference.gateway", *ELSEWHERE)


def test_the_same_command_runs_through_a_server() -> None:
    with ExitStack() as stack:
        command = restarted_fast(PLAIN, stack)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert command != PLAIN
    assert (ended.returncode, "stays on loopback" in ended.stderr) == (2, True)


@pytest.mark.parametrize(
    "command", [("./gateway", "--port", "1"), (*PYTHON_MODULE, "gateproof.reference.defects", "gateway", "x")]
)
def test_another_program_stays_as_it_is(command: tuple[str, ...]) -> None:
    with ExitStack() as stack:
        assert restarted_fast(command, stack) == command
