"""Agents may want to be left alone for a while after trouble, and are waited for."""

from __future__ import annotations

import time

# Whoever says "try again in a minute" means it.
WAITS_S = 65.0


class Patience:
    """There is some until an agent has been waited for in vain: such a one does not come back by itself."""

    def __init__(self) -> None:
        self.left = True

    def wait(self) -> None:
        time.sleep(WAITS_S)
