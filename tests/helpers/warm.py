"""Starts programs as forks of a process that has loaded gateproof, where a test is not about their start.

After WARM comes `gateproof`, the name of another module, the path of a script, or `-c` and a program. Such a
command is like one of sys.executable: it has the folder, environment, streams and signals of its caller, and
the same exit code. But its environment cannot be read in /proc, and it has neither the limits, mounts, umask
and further files of its caller nor libraries that are loaded before others; what Python itself reads from
the environment is the server's. A test of these starts sys.executable.

Once this module is imported, what a run starts of its own is forked, too: gateways, merchants and workers. It
has to be imported before any other module of gateproof.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from execnet import gateway_io

from gateproof import package
from gateproof.forks.server import runner_in

ROOT = Path(__file__).resolve().parents[2]
# The checkout and the server's folder; inherited by the workers of xdist, and by who is started without WARM.
VARIABLE = "GATEPROOF_TESTS_WARM"
SERVER = Path(__file__).with_name("warm_server.py")
COLLECTED = Path(__file__).with_name("collected.py")


_checkout, _, FOLDER = os.environ.get(VARIABLE, "").partition("\n")
# True in the process that has to start the server.
IS_OWN = _checkout != str(ROOT) or not Path(FOLDER).is_dir()
if IS_OWN:
    FOLDER = tempfile.mkdtemp(prefix="gateproof-warm-")
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
    os.environ[VARIABLE] = f"{ROOT}\n{FOLDER}"
WARM = runner_in(FOLDER)
# The folder of the server that has loaded the tests, and forks the workers of xdist.
OF_TESTS = f"{FOLDER}/tests"
_started_alone = gateway_io.popen_args


def start() -> Callable[[], object]:
    """Starts the server, which takes calls at once; returns what ends it."""
    return _started(str(SERVER))


def start_for_tests(*arguments: str) -> Callable[[], object]:
    """Starts the server of test workers, which first loads what pytest collects; returns what ends it."""
    Path(OF_TESTS).mkdir()
    return _started(str(COLLECTED), *arguments)


def _started(*command: str) -> Callable[[], object]:
    process = subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline(), "it does not listen"
    return process.communicate


def _worker(spec: gateway_io.XSpec) -> list[str]:
    """The command of a worker; one that is to find other modules on its path is started by itself.

    A worker of a run is given an interpreter, with -P or without, and a worker of these tests none. A run
    that has a fork server of its own names that.
    """
    alone: list[str] = _started_alone(spec)
    if "PYTHONPATH" in os.environ:
        return alone
    if not spec.python:
        return [*runner_in(OF_TESTS), *alone[-2:]] if IS_OWN and Path(OF_TESTS).is_dir() else alone
    return [*WARM, *alone[-2:]] if len(shlex.split(spec.python)) <= 2 else alone


if hasattr(os, "fork"):
    package.PYTHON_MODULE = WARM  # type: ignore[assignment]
    gateway_io.popen_args = _worker
