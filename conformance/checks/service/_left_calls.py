"""Calls whose client disconnects while a party has not answered yet."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from gateproof.conformance.faults.misbehaving import send_and_disconnect
from gateproof.conformance.kit.service.mcp_session import ServiceSession
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Request
from gateproof.fakes.gateway.script import Endpoint

# How long a call may take to reach the party that it waits for.
REACHES_WITHIN_S = 3.0
_PAUSE_S = 0.02


def call_of(service: Service, session: ServiceSession | None, token: str) -> Request:
    """The operation with this token; over MCP in this session."""
    if session is not None:
        return session.lone_call(token)
    return service.request((("Authorization", f"Bearer {token}"),))


def sent(service: Service, call: Request) -> AbstractContextManager[int]:
    """Sends this call on its own connection, which is closed at the end of the block."""
    place = service.wire.place_of(call.url)
    assert place is not None  # noqa: S101 - the operation is at the service's own address
    return send_and_disconnect(place, call, number=1)


def reached(world: ServiceWorld, mark: int, endpoint: Endpoint) -> int:
    """How many requests of the calls the party has received; waits for the first one."""
    until = time.monotonic() + REACHES_WITHIN_S
    while not world.gateway.journal.since(mark, endpoint) and time.monotonic() < until:
        wait_for(Cause.REQUEST, _PAUSE_S)
    return len(world.gateway.journal.since(mark, endpoint))
