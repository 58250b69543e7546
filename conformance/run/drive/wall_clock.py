"""Detects a jump of this machine's wall clock, for example by a time server or after a suspend."""

from __future__ import annotations

import time

# A time server that corrects the clock gradually changes it by less during the longest check.
_TOLERATED_S = 2.0


class WallClock:
    """Compares the wall clock with the monotonic clock, since its creation."""

    def __init__(self) -> None:
        self._ahead_s = _ahead_s()

    def jumped_s(self) -> float:
        """By how much the wall clock was changed since; 0 for a change that does not matter."""
        change = _ahead_s() - self._ahead_s
        return change if abs(change) > _TOLERATED_S else 0.0


def _ahead_s() -> float:
    return time.time() - time.monotonic()
