"""Makes garbage collection rare.

A run keeps thousands of results until it ends, and the collector would traverse all of them again and again.
A run creates few reference cycles.
"""

from __future__ import annotations

import gc

_NEW_OBJECTS = 50_000


def collect_seldom() -> None:
    """Excludes all existing objects from collection, and raises the thresholds."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 50)
