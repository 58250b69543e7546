"""Detects a jump of this machine's wall clock, for example by a time server or after a suspend."""

from __future__ import annotations

import time

# A time server that corrects the clock gradually changes it by less during the longest check.
_TOLERATED_S = 2.0
# Servers may write a `Date` header that is up to a second old, see `settle`.
_OLD_DATES_S = 1.5


class WallClock:
    """Compares the wall clock with the monotonic clock, since its creation."""

    def __init__(self) -> None:
        self._ahead_s = _ahead_s()

    def jumped_s(self) -> float:
        """By how much the wall clock was changed since; 0 for a change that does not matter."""
        change = _ahead_s() - self._ahead_s
        return change if abs(change) > _TOLERATED_S else 0.0

    def settle(self) -> None:
        """Call it before a check. After a jump it waits until no server writes the time from before.

        Many servers make the text of their `Date` header once a second only. A check that begins directly
        after the jump would read from it that the target's clock is wrong.
        """
        if self.jumped_s():
            time.sleep(_OLD_DATES_S)
            self._ahead_s = _ahead_s()


def _ahead_s() -> float:
    return time.time() - time.monotonic()
