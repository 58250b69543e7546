"""The gateway's own clock: the wall's, and whatever it was moved forward by."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Every time in the gateway comes from here, so that moving it moves everything."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self.offset_s = 0.0

    def now(self) -> float:
        return self._wall() + self.offset_s

    def advance(self, seconds: float) -> None:
        """Move forward; a clock that could go back would bring expired tokens back to life."""
        if seconds < 0:
            raise ValueError("a clock does not go backwards")
        self.offset_s += seconds
