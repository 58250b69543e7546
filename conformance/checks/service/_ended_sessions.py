"""Requests that must not end an MCP session."""

from __future__ import annotations

from gateproof.conformance.checks.service._expiring import OUTSIDE
from gateproof.conformance.checks.service._failing_parties import OTHER
from gateproof.conformance.checks.service._proxy_calls import USER
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut, expect


def ends_nothing(
    session: ServiceSession,
    asking: ServiceSession,
    what: str,
    world: ServiceWorld,
    token: str,
    bad: str | None,
) -> None:
    """Expects that a session works after this request to end it; the token `bad` may be None."""
    if not session.has_id():
        raise LeftOut("the server keeps no sessions")
    ended = asking.end(bad)
    after = session.call(token)
    if after.status in OUTSIDE and _ends_by_itself(session, world):
        raise LeftOut("the server ends a session by itself in which nobody asked for its end")
    expect.that(
        session.service.returns_orders(after, world.gateway.orders_of(USER)),
        f"operation in a session whose end was asked for with {what}, which was {ended.outcome()}",
        expected="the orders",
        got=after.outcome(),
        exchange=after,
    )


def _ends_by_itself(session: ServiceSession, world: ServiceWorld) -> bool:
    """True if another user's session, which nobody asked to end, ends after a call as well."""
    token = world.gateway.access_token(OTHER)
    untouched = session_of(session.service, token)
    require_served(untouched.call(token), world.gateway.orders_of(OTHER))
    return untouched.call(token).status in OUTSIDE
