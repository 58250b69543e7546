"""The merchant uses real time, and has the offset of the target's clock."""

from __future__ import annotations

from collections.abc import Callable

LEEWAY_S = 60


class Clock:
    """Real time and the offset of the target's clock."""

    def __init__(self, wall: Callable[[], float], ahead_s: float) -> None:
        self.wall = wall
        self.ahead_s = ahead_s

    def target(self) -> float:
        """The time on the target's clock."""
        return self.wall() + self.ahead_s
