"""The worker processes of a proof."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack, closing, contextmanager
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from gateproof.conformance.run.drive.gc_tuning import collect_seldom
from gateproof.conformance.run.prepare import fork_server
from gateproof.conformance.run.prepare.fork_server import ForkServer

Result = TypeVar("Result")
# Workers ignore these signals; their pipe tells them to stop.
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SAFE_PATH = "PYTHONSAFEPATH"
# A socket's path has at most 107 bytes on Linux and 103 on macOS, and multiprocessing adds 32.
_LONGEST_FOLDER = 70
# Loaded once; every worker is forked from the process that loaded it.
_LOADED_BEFORE = ["gateproof.conformance.run.proof.loaded_before"]


def in_workers(
    work: Callable[..., Result], calls: Sequence[tuple[Any, ...]], *, workers: int
) -> Generator[tuple[int, Future[Result]], None, None]:
    """Carries out the calls, several in parallel; yields each one's place and result as it ends.

    If the caller closes the iterator before its end, the workers stop.
    """
    start = _context()
    until, held = start.Pipe(duplex=False)
    with ExitStack() as stack:
        server = ForkServer(stack)
        # The temporary folder is for workers, which do not clean up when they are stopped.
        folder = stack.enter_context(TemporaryDirectory(prefix="gateproof-prove-"))
        stack.enter_context(closing(held))
        stack.enter_context(_safe_path())
        given = (until, folder, server.runner)
        pool = stack.enter_context(
            ProcessPoolExecutor(workers, mp_context=start, initializer=_begin, initargs=given)
        )
        try:
            with _held(_STOPPING):
                waiting = {pool.submit(work, *call): place for place, call in enumerate(calls)}
            for done in as_completed(waiting):
                server.check()
                yield waiting[done], done
        except BaseException:
            held.close()
            pool.shutdown(cancel_futures=True)
            raise


def _context() -> multiprocessing.context.BaseContext:
    """How workers start: as forks of a server, or as new interpreters where there is no fork().

    A fork of this process would have the state of the command. The server listens at a path below the folder
    for temporary files.
    """
    too_long = len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER
    if too_long or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED_BEFORE)
    return context


@contextmanager
def _safe_path() -> Iterator[None]:
    """Like -P: workers that start in the block do not import modules from the caller's folder."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


@contextmanager
def _held(numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """Blocks the signals inside the block; workers that start in it inherit that and unblock them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def _begin(until: Connection, folder: str, runner: tuple[str, ...]) -> None:
    """Sets up a worker: it ends when the parent closes the pipe, and its own children end with its pipes.

    Signals do nothing to it, because the parent handles them. They are not ignored: what it launches would
    ignore them as well.
    """
    tempfile.tempdir = folder
    fork_server.give(runner)
    collect_seldom()
    for number in _STOPPING:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)

    def watch() -> None:
        wait([until])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
