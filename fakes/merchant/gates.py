"""A gate holds answers back until somebody opens it or enough calls have arrived."""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Gates:
    """Gates by name. One that was opened stays open."""

    def __init__(self) -> None:
        self._open: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._arrived: defaultdict[str, int] = defaultdict(int)

    def arrive(self, gate: str, parties: int | None) -> asyncio.Event:
        """Count one more arrival, and give what to wait for."""
        self._arrived[gate] += 1
        if parties is not None and self._arrived[gate] >= parties:
            self._open[gate].set()
        return self._open[gate]

    def release(self, gate: str) -> int:
        """Open a gate, and say how many have arrived at it so far."""
        self._open[gate].set()
        return self.arrived(gate)

    def arrived(self, gate: str) -> int:
        return self._arrived.get(gate, 0)
