"""Requests with an identifier, by which a service may know that a request is repeated."""

from __future__ import annotations

import secrets

from gateproof.conformance.checks.service._failing_parties import USER, require_works
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Exchange, Headers

# Set by callers, proxies and tracing libraries.
IDENTIFIERS = ("Idempotency-Key", "X-Request-ID", "X-Correlation-ID", "traceparent")


def identifier(name: str) -> Headers:
    is_a_trace = name == "traceparent"
    value = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01" if is_a_trace else secrets.token_hex(16)
    return ((name, value),)


def called(service: Service, token: str, headers: Headers) -> Exchange:
    """A call with these headers.

    Over MCP only the call itself has them: a service that knows repeated requests by a header would answer
    the start of the session from memory, too.
    """
    if service.operation.kind == "mcp":
        return session_of(service, token).with_headers(headers).call(token)
    return service.serve(token, headers)


def called_without_token(service: Service, world: ServiceWorld, headers: Headers) -> Exchange:
    """The same without a token; over MCP in a session of a user."""
    if service.operation.kind == "mcp":
        return session_of(service, world.unseen_token(USER)).with_headers(headers).call(None)
    return service.operate(headers=headers)


def served_with(service: Service, world: ServiceWorld, headers: Headers) -> None:
    """A call with these headers that is served; leaves the check out if the service refuses them."""
    orders = world.gateway.orders_of(USER)
    require_works(service, world)
    answer = called(service, world.unseen_token(USER), headers)
    if not service.returns_orders(answer, orders):
        require_served(called(service, world.unseen_token(USER), ()), orders)
        raise LeftOut("the service refuses a call with this header")
