"""Defers SIGINT, SIGTERM and SIGHUP until a run can stop cleanly.

Between two checks pytest runs its own code. An exception there leaves its context managers half closed, and
their messages appear on the terminal. A check, however, may wait for a target that never answers, so it is
interrupted at once.
"""

from __future__ import annotations

import _weakrefset
import signal
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gateproof.conformance.run.drive.signals import ignore_half_made, is_postponed, not_ignored, remember

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Code that the interpreter calls by itself: it prints an exception from there, and continues.
_SWALLOWING_FILES = frozenset({weakref.__file__, _weakrefset.__file__})
_SWALLOWING_NAMES = frozenset({"__del__", "gc_callback"})

_SOON_S = 0.02


class Interruption:
    """Whether a signal asked this process to stop, and whether it may interrupt the current code."""

    def __init__(self) -> None:
        self.asked = False
        self._welcome = False
        self._pressed = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Inside the block the first signal waits for the next check; the second interrupts at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._request) for number in not_ignored(*_SIGNALS)}
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._remind)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """The code in this block is interrupted; at its start if a signal came before."""
        if self.asked:
            raise KeyboardInterrupt
        self._welcome = True
        try:
            yield
        finally:
            self._welcome = False

    def _request(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGINT:
            remember(number)
        self._pressed, self.asked = self.asked, True
        self._remind(number, frame)

    def _remind(self, _signal: int, frame: FrameType | None) -> None:
        if self._welcome or self._pressed:
            _interrupt(frame)


def _interrupt(frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt now, or retries soon if it is postponed or would be ignored here."""
    if is_postponed() or _is_swallowing(frame):
        signal.setitimer(signal.ITIMER_REAL, _SOON_S)
        return
    ignore_half_made()
    raise KeyboardInterrupt


def _is_swallowing(frame: FrameType | None) -> bool:
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _SWALLOWING_FILES or code.co_name in _SWALLOWING_NAMES:
            return True
        frame = frame.f_back
    return False
