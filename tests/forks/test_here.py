"""A command becomes a fork only if a server runs its module, and only a process with one thread has one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from gateproof.forks.here import forked, forks, how_forks_ended
from gateproof.package import PYTHON_MODULE

SERVED = "gateproof.fakes.merchant"
PROGRAM = f"""
import json, os, signal, subprocess, time
from gateproof.forks.here import forked, forks, how_forks_ended, _server
from gateproof.package import PYTHON_MODULE
command = (*PYTHON_MODULE, "{SERVED}", "--help")
with forks(["{SERVED}"]):
    done = subprocess.run(forked(command), capture_output=True, text=True)
    print(json.dumps([forked(command)[-2:], forked(command) != command, done.returncode, done.stdout]))
    print(json.dumps([forked((*PYTHON_MODULE, "json")) == (*PYTHON_MODULE, "json"), how_forks_ended()]))
    os.kill(_server[0], signal.SIGKILL)
    os.waitid(os.P_PID, _server[0], os.WEXITED | os.WNOWAIT)
    print(json.dumps(how_forks_ended()))
print(json.dumps([forked(command) == command, how_forks_ended()]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_command_of_a_loaded_module_is_forked_while_the_server_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    inside, others, killed, after = map(json.loads, done.stdout.splitlines())

    assert inside[:3] == [[SERVED, "--help"], True, 0]
    assert inside[3].startswith("usage: python -m gateproof.fakes.merchant")
    assert others == [True, ""]
    assert killed == "the process from which all others are forked has ended"
    assert after == [True, ""]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.parametrize(
    ("before", "said"),
    [
        # As a program may have left it that started this one.
        ("import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)", "False  \n"),
        # A file system without sockets.
        ("def refused(folder): raise OSError\nhere.listening_in = refused", "True  \n"),
    ],
    ids=["children that nobody waits for", "no sockets"],
)
def test_odd_system_changes_no_more_than_how_processes_start(before: str, said: str) -> None:
    program = f"""
from gateproof.forks import here
from gateproof.package import PYTHON_MODULE
{before}
command = (*PYTHON_MODULE, "{SERVED}")
with here.forks(["{SERVED}"]):
    print(here.forked(command) == command, here.how_forks_ended(), end=" ")
print(here.how_forks_ended())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == said


def test_process_with_several_threads_is_not_forked() -> None:
    command, over = (*PYTHON_MODULE, SERVED), threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        with forks([SERVED]):
            assert forked(command) == command
            assert how_forks_ended() == ""
    finally:
        over.set()
        thread.join()
