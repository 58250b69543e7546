"""A token that expires while it is in use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone

from gateproof.conformance.kit.service.service import expect_challenge
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import SERVICE_LEEWAY_S
from gateproof.conformance.wire.exchange import Exchange

# The extra delay of a service that compares whole seconds and still accepts at the end of the leeway.
_WHOLE_SECONDS_S = 2
# The statuses of a server that does not know a session.
OUTSIDE = frozenset({400, 404})
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
    expect_challenge(_at_the_end(ask, expires_at, stale, ends=(401,)))


def refused_in_a_session_once_expired(
    ask: Callable[[], Exchange], expires_at: float, stale: Callable[[], Exchange]
) -> None:
    """The same in the session that the token began; claims nothing if the server ends the session itself.

    MCP has 404 for a session that the server does not know any more, and some use 400.
    """
    answer = _at_the_end(ask, expires_at, stale, ends=(401, *OUTSIDE))
    if answer.status not in OUTSIDE:
        expect_challenge(answer)


def _at_the_end(
    ask: Callable[[], Exchange], expires_at: float, stale: Callable[[], Exchange], *, ends: Sequence[int]
) -> Exchange:
    """The first answer with one of these statuses, or the last one; expects that `stale` is refused."""
    begun, answer = time.time(), ask()
    while answer.status not in ends and begun < expires_at + 1:
        wait_for(Cause.EXPIRY, min(0.5, max(0.05, expires_at - time.time() + 0.05)))
        begun, answer = time.time(), ask()
    if answer.status not in ends and (late := stale()).status is not None and late.status < 300:
        expect_challenge(late)
    while answer.status not in ends and begun < expires_at + SERVICE_LEEWAY_S + _WHOLE_SECONDS_S:
        wait_for(Cause.EXPIRY, 0.5)
        begun, answer = time.time(), ask()
    return answer
