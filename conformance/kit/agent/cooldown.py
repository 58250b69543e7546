"""Waits for agents that refuse to work for a while after an error."""

from __future__ import annotations

from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import BREAKER_S


class CooldownWait:
    """Records whether waiting can still help: not after one wait that did not help."""

    def __init__(self) -> None:
        self.left = True

    def wait(self) -> None:
        wait_for(Cause.RECOVERY, BREAKER_S)
