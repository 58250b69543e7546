"""Tokens of one user in one MCP session."""

from __future__ import annotations

from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect

USER = USERS[0]
_REFUSALS = frozenset({401, 403})


@check("SERVE-01")
def refreshed_token_is_good_in_its_session(service: Service, world: ServiceWorld) -> None:
    """A session started with a user's token does not refuse another good token of the same user.

    The server may end the session instead and answer that there is none. Then a new session is started.
    """
    gateway = world.gateway
    token, refreshed = gateway.access_token(USER), gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USER))

    answer = session.call(refreshed)
    expect.that(
        answer.status not in _REFUSALS,
        "operation with another good token of the user, in a session that their first token began",
        expected="the orders, or an answer that there is no such session",
        got=answer.outcome(),
        exchange=answer,
    )
    if not service.returns_orders(answer, gateway.orders_of(USER)):
        again = service.serve(refreshed)
        expect.that(
            service.returns_orders(again, gateway.orders_of(USER)),
            "operation with that token in a new session",
            expected="the orders",
            got=again.outcome(),
            exchange=again,
        )
