"""A token that expires while it is in use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone

from gateproof.conformance.kit.service.service import expect_challenge
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import SERVICE_LEEWAY_S
from gateproof.conformance.wire.exchange import Exchange

# The extra delay of a service that compares whole seconds and still accepts at the end of the leeway.
_WHOLE_SECONDS_S = 2
_EAST = timezone(timedelta(hours=2))
# The same moment in several forms that RFC 3339 allows.
TIMESTAMPS: Mapping[str, Callable[[float], str]] = {
    "utc": lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "two-hours-ahead": lambda at: datetime.fromtimestamp(at, _EAST).isoformat(timespec="seconds"),
    "nanoseconds": lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f789Z"),
}


def refused_once_expired(
    ask: Callable[[], Exchange], expires_at: float, stale: Callable[[], Exchange]
) -> None:
    """Expects that an accepted token gets the challenge once it has expired, after the clock leeway.

    If the service also accepts `stale`, the call with a long expired token, waiting for the leeway is
    useless. The start of a call counts: a slow service has checked the token long before it answers.
    """
    begun, answer = time.time(), ask()
    while answer.status != 401 and begun < expires_at + 1:
        wait_for(Cause.EXPIRY, min(0.5, max(0.05, expires_at - time.time() + 0.05)))
        begun, answer = time.time(), ask()
    if answer.status != 401 and (late := stale()).status is not None and late.status < 300:
        expect_challenge(late)
    while answer.status != 401 and begun < expires_at + SERVICE_LEEWAY_S + _WHOLE_SECONDS_S:
        wait_for(Cause.EXPIRY, 0.5)
        begun, answer = time.time(), ask()

    expect_challenge(answer)
