"""Ctrl-C, a polite kill and a terminal that goes away, which take effect where a run can stop cleanly.

Between two checks pytest is at its own book-keeping: an exception out of nowhere leaves its context managers
half closed, and what they then say about themselves lands on the terminal. A check, in turn, may wait for a
target that never answers, and has to be left at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from conformance.run.stopping import heeded

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Whether somebody asked this process to stop, and whether that may interrupt what it is doing."""

    def __init__(self) -> None:
        self.asked = False
        self._welcome = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """A first request waits for the next check; a second one does not wait."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._request) for number in heeded(*_SIGNALS)}
        try:
            yield
        finally:
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

    def _request(self, _signal: int, _frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if self._welcome or again:
            raise KeyboardInterrupt
