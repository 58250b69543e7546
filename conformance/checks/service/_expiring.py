"""A token whose time runs out while it is in use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone

from gateproof.conformance.kit.service.service import challenged
from gateproof.conformance.suite.time_limits import SERVICE_LEEWAY_S
from gateproof.conformance.wire.exchange import Exchange

# Who compares whole seconds, and at the end of the leeway says yes, is so much later.
_WHOLE_SECONDS_S = 2
_EAST = timezone(timedelta(hours=2))
# The same moment, as RFC 3339 lets anybody write it.
TIMESTAMPS: Mapping[str, Callable[[float], str]] = {
    "utc": lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "two-hours-ahead": lambda at: datetime.fromtimestamp(at, _EAST).isoformat(timespec="seconds"),
    "nanoseconds": lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f789Z"),
}


def refused_once_expired(
    ask: Callable[[], Exchange], expires_at: float, stale: Callable[[], Exchange]
) -> None:
    """What was served before gets the challenge as soon as the token has expired, leeway granted.

    A service that serves `stale`, the call with a token that expired long ago, has no leeway to wait for.
    What counts is when a call began: a slow service has looked at the token long before it answers.
    """
    begun, answer = time.time(), ask()
    while answer.status != 401 and begun < expires_at + 1:
        time.sleep(min(0.5, max(0.05, expires_at - time.time() + 0.05)))
        begun, answer = time.time(), ask()
    if answer.status != 401 and (late := stale()).status is not None and late.status < 300:
        challenged(late)
    while answer.status != 401 and begun < expires_at + SERVICE_LEEWAY_S + _WHOLE_SECONDS_S:
        time.sleep(0.5)
        begun, answer = time.time(), ask()

    challenged(answer)
