"""The merchant lives by the wall clock, and knows how far the target's clock was moved ahead of it."""

from __future__ import annotations

from collections.abc import Callable

LEEWAY_S = 60


class Clock:
    """Wall time and the offset of the target's clock."""

    def __init__(self, wall: Callable[[], float], ahead_s: float) -> None:
        self.wall = wall
        self.ahead_s = ahead_s

    def target(self) -> float:
        """What the target's clock shows."""
        return self.wall() + self.ahead_s
