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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from gateproof.forks.server import STOPPING, ForkServer, Main, listening_in, loaded, runner_in
from gateproof.package import PYTHON_MODULE

_LISTENS_S = 10.0
_END_S = 5.0
_POLL_S = 0.005
# For each module that the server runs, the command before its name; every fork inherits it.
_runners: dict[str, tuple[str, ...]] = {}
# The process ID of the server, in the process that started it.
_server: list[int] = []
# Servers that have ended and were waited for, which can be done once.
_ended: set[int] = set()


def forked(command: tuple[str, ...]) -> tuple[str, ...]:
    """The same command as a fork, if it runs a module that the server of this run has loaded."""
    given = len(PYTHON_MODULE)
    runner = _runners.get(command[given]) if command[:given] == PYTHON_MODULE else None
    return command if runner is None else (*runner, *command[given:])


def how_forks_ended() -> str:
    """What is to be said if the server has ended, and all forks with it; else an empty text."""
    for server in _server:
        if _has_ended(server):
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
    # An interrupted child must not go on as this process.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        server = os.fork()
        if server == 0:
            os.close(held)
            os.close(ready)
            _serve(folder, until, listens, unblocked, loading=partial(loaded, modules, warm_up))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    os.close(until)
    os.close(listens)
    _ended.discard(server)
    try:
        if _says_that_it_listens(ready):
            _server.append(server)
        else:
            _runners.clear()
        yield
    finally:
        _runners.clear()
        _server.clear()
        os.close(ready)
        os.close(held)
        _await(server)
        shutil.rmtree(folder, ignore_errors=True)


def _says_that_it_listens(ready: int) -> bool:
    """False if the server cannot: some file systems have no sockets. Nothing is forked then."""
    said, _, _ = select.select([ready], [], [], _LISTENS_S)
    return bool(said) and bool(os.read(ready, 1))


def _serve(
    folder: str,
    until: int,
    listens: int,
    unblocked: Iterable[int],
    *,
    loading: Callable[[], Callable[[str], Main | None]],
) -> None:
    """Is the server, and does not return. It listens before it loads, so that nobody waits for a start."""
    code = 1
    try:
        # Ctrl-C must not reach it; its parent ends it.
        os.setsid()
        for number in STOPPING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        # What `python -m` adds, and `python -P -m` does not: modules are not loaded from the current folder.
        if not sys.flags.safe_path and sys.path[:1] in ([""], [str(Path.cwd())]):
            del sys.path[0]
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(quiet, 1)
        os.close(quiet)
        listening = listening_in(folder)
        os.write(listens, b"1")
        os.close(listens)
        ForkServer(listening, until, loading()).serve()
        code = 0
    except Exception:  # noqa: BLE001 - nobody else reports it
        traceback.print_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(code)


def _await(server: int) -> None:
    """Waits for the server, which ends after its pipe was closed."""
    deadline = time.monotonic() + _END_S
    while not _has_ended(server):
        if time.monotonic() > deadline:
            os.kill(server, signal.SIGKILL)
            deadline += _END_S
        time.sleep(_POLL_S)


def _has_ended(server: int) -> bool:
    if server not in _ended:
        try:
            over = os.waitpid(server, os.WNOHANG)[0] == server
        except ChildProcessError:
            # SIGCHLD is ignored, as by some programs that start this one: nobody has to wait for it.
            over = True
        if over:
            _ended.add(server)
    return server in _ended
