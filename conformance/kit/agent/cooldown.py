"""Waits for agents that refuse to work for a while after an error."""

from __future__ import annotations

import time

from gateproof.conformance.suite.time_limits import BREAKER_S


class CooldownWait:
    """Records whether waiting can still help: not after one wait that did not help."""

    def __init__(self) -> None:
        self.left = True

    def wait(self) -> None:
        time.sleep(BREAKER_S)
