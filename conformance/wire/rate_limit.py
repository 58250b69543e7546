"""Limits requests per second over all processes."""

from __future__ import annotations

import fcntl
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_SLOT = struct.Struct("d")


class TooManyAtOnce(Exception):
    """A race has more requests than are allowed in a second."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Assigns time slots for requests; the file contains the time of the next free slot.

    It uses the monotonic clock, which all processes of the machine share.
    """

    file: Path
    rate: float
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def take(self, count: int = 1) -> None:
        """Waits until `count` requests may be sent at one moment."""
        if count > max(1.0, self.rate):
            raise TooManyAtOnce(f"{count} requests at one moment, and --rate allows {self.rate:g} a second")
        if (wait := self._reserve(count / self.rate if count > 1 else 0.0) - self.now()) > 0:
            self.sleep(wait)

    def _reserve(self, room: float) -> float:
        """The time of the slot; several requests together keep as many slots free before and after them."""
        with self.file.open("a+b") as kept:
            fcntl.flock(kept, fcntl.LOCK_EX)
            kept.seek(0)
            octets = kept.read(_SLOT.size)
            free = _SLOT.unpack(octets)[0] if octets else 0.0
            start: float = max(self.now(), free + room)
            kept.truncate(0)
            kept.write(_SLOT.pack(start + max(room, 1 / self.rate)))
        return start
