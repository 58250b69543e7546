"""The first environment of a process that holds the signing key is closed to programs of the same user."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.attack

# Linux closes a process that changes its user; 1 opens it again, as it is for one that did not.
SCRIPT = """
import ctypes, os, sys
from gateproof.conformance.cli.own_memory import hide
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
if sys.argv[1] == "hidden":
    hide()
child = os.fork()
if child == 0:
    try:
        with open(f"/proc/{os.getppid()}/environ", "rb") as file:
            print("read" if b"GATEPROOF_SIGN_KEY=" in file.read() else "nothing", flush=True)
    except PermissionError:
        print("refused", flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a /proc")
@pytest.mark.parametrize(("way", "expected"), [("open", "read"), ("hidden", "refused")])
def test_program_of_the_same_user_cannot_read_it(way: str, expected: str) -> None:
    command = [sys.executable, "-P", "-c", SCRIPT, way]
    environment = {**os.environ, "GATEPROOF_SIGN_KEY": "k"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.split() == [expected], done.stderr
