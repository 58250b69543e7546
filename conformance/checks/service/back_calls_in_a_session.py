"""Two users' calls at the same time in one MCP session, whose requests may have the same ID."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.checks.service._left_calls import reached
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

# The merchant's API answers the first call while the second one still waits for it.
_DELAYS = (Answer(delay_s=1.0), Answer(delay_s=2.0))
_STEP = "operation: tools/call"


@check("BACK-10")
def calls_at_once_in_a_session_show_each_user_their_own(service: Service, world: ServiceWorld) -> None:
    """Two users' calls at once in one MCP session never show the other's orders.

    The server may refuse the second call, and leave either call without an answer. What it answers to two
    calls with the same request ID is recorded.
    """
    gateway = world.gateway
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session = session_of(service, token)
    service.keyring.add(Secret("access_token", another))
    require_served(session.call(token), gateway.orders_of(USER))
    answer = _never_mixed(service, world, session.lone_call(token), session.lone_call(another))
    if not service.returns_orders(answer, gateway.orders_of(OTHER)):
        raise LeftOut("the server does not serve a second user in a session")

    first = session.lone_call(token)
    second = mcp.numbered(session.lone_call(another), json.loads(first.body)["id"])
    mixed = [
        shows_orders(answer, world, other)
        for answer, other in zip(_at_once(service, world, first, second), (OTHER, USER), strict=True)
    ]
    # Such a client breaks MCP, and the servers of the official SDKs answer it so.
    observe(with_one_request_id="another user's orders" if any(mixed) else "only their own orders")


def _never_mixed(service: Service, world: ServiceWorld, first: Request, second: Request) -> Exchange:
    """Expects that neither user's answer shows the other's orders; returns the second user's."""
    earlier, later = _at_once(service, world, first, second)
    for answer, user, other in ((earlier, USER, OTHER), (later, OTHER, USER)):
        expect.that(
            not shows_orders(answer, world, other),
            f"a call of {user} in an MCP session in which {other} calls at the same time",
            expected="only their own orders",
            got=f"orders of {other}",
            exchange=answer,
        )
    return later


def _at_once(
    service: Service, world: ServiceWorld, first: Request, second: Request
) -> tuple[Exchange, Exchange]:
    """The answers to the first user's call, and to the second one's, which comes while that waits."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.script.tape(Endpoint.MERCHANT_API, _DELAYS)
    with ThreadPoolExecutor(1) as caller:
        waiting = caller.submit(service.wire.send_once, _STEP, first)
        met = reached(world, mark, Endpoint.MERCHANT_API)
        later = service.wire.send_once(_STEP, second)
        earlier = waiting.result()
    gateway.script.clear()
    if not met:
        raise LeftOut("the first call does not reach the merchant's API in time")
    return earlier, later
