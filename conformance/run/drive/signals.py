"""A polite kill, or a terminal that goes away, means the same as Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """A signal to stop ends a run like Ctrl-C does: with its record, and with everything stopped."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in heeded(signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def heeded(*numbers: signal.Signals) -> tuple[signal.Signals, ...]:
    """Those that mean something here: whoever starts a run that outlives its terminal has SIGHUP ignored."""
    deaf = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(number for number in numbers if number is not signal.SIGHUP or not deaf)
