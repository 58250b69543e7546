"""The worker processes of a proof."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from gateproof.conformance.run.drive.gc_tuning import collect_seldom

Result = TypeVar("Result")
# Workers ignore these signals; their pipe tells them to stop.
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SAFE_PATH = "PYTHONSAFEPATH"


def in_workers(
    work: Callable[..., Result], calls: Sequence[tuple[Any, ...]], *, workers: int
) -> Generator[tuple[int, Future[Result]], None, None]:
    """Carries out the calls, several in parallel; yields each one's place and result as it ends.

    If the caller closes the iterator before its end, the workers stop.
    """
    # New interpreters: a forked process would have the state of the test runner.
    start = multiprocessing.get_context("spawn")
    until, held = start.Pipe(duplex=False)
    # The temporary folder is for workers, which do not clean up when they are stopped.
    with (
        TemporaryDirectory(prefix="gateproof-prove-") as folder,
        closing(held),
        _safe_path(),
        ProcessPoolExecutor(workers, mp_context=start, initializer=_begin, initargs=(until, folder)) as pool,
    ):
        try:
            with _held(_STOPPING):
                waiting = {pool.submit(work, *call): place for place, call in enumerate(calls)}
            for done in as_completed(waiting):
                yield waiting[done], done
        except BaseException:
            held.close()
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _safe_path() -> Iterator[None]:
    """As -P: no file in the caller's folder is taken for a module by a worker that starts in the block."""
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


def _begin(until: Connection, folder: str) -> None:
    """Sets up a worker: it ends when the parent closes the pipe, and its own children end with its pipes.

    Signals do nothing to it, because the parent handles them. They are not ignored: what it launches would
    ignore them as well.
    """
    tempfile.tempdir = folder
    collect_seldom()
    for number in _STOPPING:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)

    def watch() -> None:
        wait([until])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
