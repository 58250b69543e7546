"""Waits for agents that refuse to work for a while after an error."""

from __future__ import annotations

import time

# A little more than a cool-down of one minute.
WAITS_S = 65.0


class Patience:
    """Remembers whether waiting can help: no more after one wait that was in vain."""

    def __init__(self) -> None:
        self.left = True

    def wait(self) -> None:
        time.sleep(WAITS_S)
