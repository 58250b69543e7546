"""Treats SIGTERM and SIGHUP like Ctrl-C, and remembers which of them came."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_REASONS: list[str] = []
# One entry for each block of `postponed` that runs, and one for each signal that came in it.
_BUSY: list[None] = []
_WAITING: list[int] = []


def remember(number: int) -> None:
    """Remembers that this signal asked the process to stop."""
    remember_reason(signal.Signals(number).name)


def remember_reason(reason: str) -> None:
    """Remembers why the process is about to be stopped."""
    _REASONS.append(reason)


def what_stopped() -> str:
    """The first reason to stop this process: a signal, or an option; Ctrl-C if there is no other one."""
    return _REASONS[0] if _REASONS else "Ctrl-C"


def ignore_half_made() -> None:
    """Says nothing of objects that cannot be deleted because an interruption came in their constructor."""
    before = sys.unraisablehook

    def told(unraisable: sys.UnraisableHookArgs) -> None:
        lacks = issubclass(unraisable.exc_type, AttributeError)
        if not (lacks and getattr(unraisable.object, "__name__", "") == "__del__"):
            before(unraisable)

    sys.unraisablehook = told


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt, so that the record is closed and processes are stopped.

    Inside `postponed` they do so at its end, and so does Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGINT:
            remember(number)
        if _BUSY:
            _WAITING.append(number)
            return
        ignore_half_made()
        raise KeyboardInterrupt

    stopping = not_ignored(signal.SIGTERM, signal.SIGHUP)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        stopping += (signal.SIGINT,)
    before = {number: signal.signal(number, interrupt) for number in stopping}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def postponed() -> Iterator[None]:
    """A signal to stop that comes in this block interrupts at its end, so that what it writes is whole."""
    if not _BUSY:
        # A signal that interrupted the end of an earlier block has been handled already.
        _WAITING.clear()
    _BUSY.append(None)
    try:
        yield
    finally:
        _BUSY.pop()
        if _WAITING and not _BUSY:
            _WAITING.clear()
            raise KeyboardInterrupt


def is_postponed() -> bool:
    """True inside `postponed`."""
    return bool(_BUSY)


def not_ignored(*numbers: signal.Signals) -> tuple[signal.Signals, ...]:
    """These signals, without SIGHUP if it is ignored, as it is under nohup."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(number for number in numbers if number is not signal.SIGHUP or not ignored)
