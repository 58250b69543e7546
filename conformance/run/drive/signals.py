"""Treats SIGTERM and SIGHUP like Ctrl-C, and remembers which of them came."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_RECEIVED: list[int] = []


def remember(number: int) -> None:
    """Remembers that this signal asked the process to stop."""
    _RECEIVED.append(number)


def what_stopped() -> str:
    """The name of the first signal that asked this process to stop; Ctrl-C if no other one did."""
    return signal.Signals(_RECEIVED[0]).name if _RECEIVED else "Ctrl-C"


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt, so that the record is closed and processes are stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, _frame: FrameType | None) -> None:
        remember(number)
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in not_ignored(signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def not_ignored(*numbers: signal.Signals) -> tuple[signal.Signals, ...]:
    """These signals, without SIGHUP if it is ignored, as it is under nohup."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(number for number in numbers if number is not signal.SIGHUP or not ignored)
