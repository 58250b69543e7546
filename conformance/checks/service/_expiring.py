"""A token whose time runs out while it is in use."""

from __future__ import annotations

import time
from collections.abc import Callable

from conformance.service import challenged
from conformance.wire.exchange import Exchange

# The service's clock may differ by so much, and then some (rule CHAL-07).
LEEWAY_S = 60


def refused_once_expired(ask: Callable[[], Exchange], expires_at: float) -> None:
    """What was served before gets the challenge as soon as the token has expired, leeway granted."""
    answer = ask()
    while answer.status != 401 and time.time() < expires_at + LEEWAY_S + 1:
        time.sleep(min(0.5, max(0.05, expires_at - time.time() + 0.05)))
        answer = ask()

    challenged(answer)
