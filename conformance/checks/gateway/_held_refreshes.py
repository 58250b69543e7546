"""Redemptions that wait for the merchant, which holds its answer to their refresh."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from gateproof.conformance.kit.gateway.failure_oracle import ExpiringToken
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for

# How long the merchant holds a refresh at most, and how long a gateway may take to request it.
HELD_S, ASKED_WITHIN_S = 10.0, 3.0


@contextmanager
def redeeming_while_held(due: ExpiringToken, gate: str) -> Iterator[None]:
    """During the block, a redemption waits for the merchant, which holds its refresh; it ends afterwards."""
    with ThreadPoolExecutor(1) as backends:
        waiting = backends.submit(due.redeem_once)
        try:
            if not _refresh_was_requested(due):
                raise LeftOut("the gateway did not use the refresh token when the merchant token was due")
            yield
        finally:
            due.alone.merchant.release(gate)
        waiting.result()


def _refresh_was_requested(due: ExpiringToken) -> bool:
    deadline = time.monotonic() + ASKED_WITHIN_S
    while not due.refreshes():
        if time.monotonic() > deadline:
            return False
        wait_for(Cause.REQUEST, 0.05)
    return True
