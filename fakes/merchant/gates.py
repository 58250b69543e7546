"""Gates: each delays answers until a test opens it or a number of calls have arrived."""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Gates:
    """Gates by name. An open gate stays open."""

    def __init__(self) -> None:
        self._open: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._arrived: defaultdict[str, int] = defaultdict(int)

    def arrive(self, gate: str, parties: int | None) -> asyncio.Event:
        """Counts one more arrival; returns the event to wait for."""
        self._arrived[gate] += 1
        if parties is not None and self._arrived[gate] >= parties:
            self._open[gate].set()
        return self._open[gate]

    def release(self, gate: str) -> int:
        """Opens a gate; returns how many calls have arrived at it so far."""
        self._open[gate].set()
        return self.arrived(gate)

    def arrived(self, gate: str) -> int:
        return self._arrived.get(gate, 0)
