"""The fork server of a run: a fork of the run's own process, which has loaded most modules already."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gateproof.forks.server import ForkServer, listening_in, loaded, runner_in
from gateproof.package import PYTHON_MODULE

_LISTENS_S = 10.0
_END_S = 5.0
_POLL_S = 0.005
# For each module that the server runs, the command before its name; every fork inherits it.
_runners: dict[str, tuple[str, ...]] = {}
# The process ID of the server, in the process that started it.
_server: list[int] = []


def forked(command: tuple[str, ...]) -> tuple[str, ...]:
    """The same command as a fork, if it runs a module that the server of this run has loaded."""
    given = len(PYTHON_MODULE)
    runner = _runners.get(command[given]) if command[:given] == PYTHON_MODULE else None
    return command if runner is None else (*runner, *command[given:])


def how_forks_ended() -> str:
    """What is to be said if the server has ended, and all forks with it; else an empty text."""
    for server in _server:
        # It can still be waited for.
        if os.waitid(os.P_PID, server, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return "the process from which all others are forked has ended"
    return ""


@contextmanager
def forks(modules: Sequence[str], warm_up: str = "") -> Iterator[None]:
    """Inside the block, `forked` makes forks of these modules.

    The server is a fork of this process, so what this process has loaded is in memory once. Where processes
    cannot be forked, or this one has several threads, of which a fork would copy one, nothing is changed.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        yield
        return
    folder = tempfile.mkdtemp(prefix="gateproof-forks-")
    # They are closed in what this process starts.
    until, held = os.pipe()
    ready, listens = os.pipe()
    _runners.update(dict.fromkeys(modules, runner_in(folder)))
    sys.stdout.flush()
    server = os.fork()
    if server == 0:
        os.close(held)
        os.close(ready)
        _serve(folder, until, listens, modules, warm_up)
    os.close(until)
    os.close(listens)
    _server.append(server)
    try:
        select.select([ready], [], [], _LISTENS_S)
        yield
    finally:
        _runners.clear()
        _server.clear()
        os.close(ready)
        os.close(held)
        _await(server)
        shutil.rmtree(folder, ignore_errors=True)


def _serve(folder: str, until: int, listens: int, modules: Sequence[str], warm_up: str) -> None:
    """Is the server, and does not return. It listens before it loads, so that nobody waits for a start."""
    code = 1
    try:
        # Ctrl-C must not reach it; its parent ends it.
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(quiet, 1)
        os.close(quiet)
        listening = listening_in(folder)
        os.close(listens)
        ForkServer(listening, until, loaded(modules, warm_up)).serve()
        code = 0
    except Exception:  # noqa: BLE001 - nobody else reports it
        traceback.print_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(code)


def _await(server: int) -> None:
    """Waits for the server, which ends after its pipe was closed."""
    deadline = time.monotonic() + _END_S
    while not os.waitpid(server, os.WNOHANG)[0]:
        if time.monotonic() > deadline:
            os.kill(server, signal.SIGKILL)
            deadline += _END_S
        time.sleep(_POLL_S)
