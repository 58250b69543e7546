"""The gateway's clock: real time plus an offset."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """The only source of time in the gateway."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self.offset_s = 0.0

    def now(self) -> float:
        return self._wall() + self.offset_s

    def advance(self, seconds: float) -> None:
        """Moves forward only; moving back would make expired tokens valid again."""
        if seconds < 0:
            raise ValueError("a clock does not go backwards")
        self.offset_s += seconds
