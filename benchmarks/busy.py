"""Keeps processors busy, so that a measurement runs next to other work."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST_S = 3 * 3600


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keeps so many processes busy inside the block."""
    running = [multiprocessing.Process(target=_turn, daemon=True) for _ in range(processes)]
    for each in running:
        each.start()
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.join()


def _turn() -> None:
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        pass
