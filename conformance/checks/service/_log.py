"""The service's log after all entries have been written."""

from __future__ import annotations

import time

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for

# How much later than the answer a line may appear in the log.
LOGS_WITHIN_S, LOG_RESTS_S = 3.0, 0.5


def settled_log(world: ServiceWorld) -> str:
    """The log, once it exists and does not grow any more: some services log a little after they answer."""
    until, log, since = time.monotonic() + LOGS_WITHIN_S, world.log(), time.monotonic()
    while (now := time.monotonic()) < until and (not log.strip() or now - since < LOG_RESTS_S):
        wait_for(Cause.LOG, 0.1)
        if (later := world.log()) != log:
            log, since = later, time.monotonic()
    return log


def require_log(world: ServiceWorld, log: str) -> None:
    """Raises LeftOut if a log could not be read or is empty."""
    if missing := world.missing_logs():
        raise LeftOut("; ".join(missing))
    if not log.strip():
        raise LeftOut("the log stayed empty: what the service logs goes elsewhere, or nowhere")
