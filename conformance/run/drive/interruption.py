"""Ctrl-C, a polite kill and a terminal that goes away, which take effect where a run can stop cleanly.

Between two checks pytest is at its own book-keeping: an exception out of nowhere leaves its context managers
half closed, and what they then say about themselves lands on the terminal. A check, in turn, may wait for a
target that never answers, and has to be left at once.
"""

from __future__ import annotations

import _weakrefset
import signal
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gateproof.conformance.run.drive.signals import heeded

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_UNHEARD_FILES = frozenset({weakref.__file__, _weakrefset.__file__})
_UNHEARD_NAMES = frozenset({"__del__", "gc_callback"})
"""Where the interpreter calls by itself: it prints what is raised there, and goes on as if nothing was."""

_SOON_S = 0.02


class Interruption:
    """Whether somebody asked this process to stop, and whether that may interrupt what it is doing."""

    def __init__(self) -> None:
        self.asked = False
        self._welcome = False
        self._pressed = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """A first request waits for the next check; a second one does not wait."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._request) for number in heeded(*_SIGNALS)}
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._remind)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """What runs in here is interrupted, at its beginning if the request is older than it."""
        if self.asked:
            raise KeyboardInterrupt
        self._welcome = True
        try:
            yield
        finally:
            self._welcome = False

    def _request(self, _signal: int, frame: FrameType | None) -> None:
        self._pressed, self.asked = self.asked, True
        self._remind(_signal, frame)

    def _remind(self, _signal: int, frame: FrameType | None) -> None:
        if self._welcome or self._pressed:
            _interrupt(frame)


def _interrupt(frame: FrameType | None) -> None:
    """At once, or as soon as what runs is a place that an exception leaves."""
    if _is_unheard(frame):
        signal.setitimer(signal.ITIMER_REAL, _SOON_S)
        return
    raise KeyboardInterrupt


def _is_unheard(frame: FrameType | None) -> bool:
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _UNHEARD_FILES or code.co_name in _UNHEARD_NAMES:
            return True
        frame = frame.f_back
    return False
