"""Measures the time of a target without the harness's own pauses."""

from __future__ import annotations

import time

from gateproof.conformance.wire.client import Wire


class Stopwatch:
    """The time since the start, without pauses for rate limits or `--rate`.

    If several threads send, the pauses of each are subtracted: the result may be too short, but not too long.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._begun, self._held_back_s = time.monotonic(), wire.held_back_s

    def so_far_s(self) -> float:
        paused_s = self._wire.held_back_s - self._held_back_s
        return max(0.0, time.monotonic() - self._begun - paused_s)
