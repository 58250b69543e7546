"""The pauses of a check, each with what it waits for, so that a run can say where its time went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

Paused = dict["Cause", float]


class Cause(StrEnum):
    """What a check pauses for, as the record names it."""

    EXPIRY = "expiry"
    RECOVERY = "recovery"
    KEYS = "keys"
    REQUEST = "request"
    PROVISIONING = "provisioning"
    LOG = "log"
    CONTROL = "control"


_PAUSED: ContextVar[Paused | None] = ContextVar("gateproof_paused", default=None)


@contextmanager
def counting_pauses() -> Iterator[Paused]:
    """The seconds that the check pauses from now on, by cause; those of other threads are not counted."""
    paused: Paused = {}
    token = _PAUSED.set(paused)
    try:
        yield paused
    finally:
        _PAUSED.reset(token)


def wait_for(cause: Cause, seconds: float) -> None:
    """Sleeps so long."""
    with waiting_for(cause):
        time.sleep(seconds)


@contextmanager
def waiting_for(cause: Cause) -> Iterator[None]:
    """Counts the time of the block. Blocks contain neither each other nor requests to the target."""
    begun = time.monotonic()
    try:
        yield
    finally:
        if (paused := _PAUSED.get()) is not None:
            paused[cause] = paused.get(cause, 0.0) + time.monotonic() - begun
