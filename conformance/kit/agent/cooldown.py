"""Agents may want to be left alone for a while after trouble, and are waited for."""

from __future__ import annotations

import time

from gateproof.conformance.suite.time_limits import BREAKER_S


class Patience:
    """There is some until an agent has been waited for in vain: such a one does not come back by itself."""

    def __init__(self) -> None:
        self.left = True

    def wait(self) -> None:
        time.sleep(BREAKER_S)
