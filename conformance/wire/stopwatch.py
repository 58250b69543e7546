"""How long something takes a target, without what the harness waited for by itself."""

from __future__ import annotations

import time

from gateproof.conformance.wire.client import Wire


class Stopwatch:
    """The time since this began, less the pauses that a rate limit asked for or that `--rate` makes.

    Where several send at once, each one's pauses count: what is left is too short rather than too long.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._begun, self._held_back_s = time.monotonic(), wire.held_back_s

    def so_far_s(self) -> float:
        paused_s = self._wire.held_back_s - self._held_back_s
        return max(0.0, time.monotonic() - self._begun - paused_s)
