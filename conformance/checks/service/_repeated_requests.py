"""Requests with an identifier, by which a service may know that a request is repeated."""

from __future__ import annotations

import secrets

from gateproof.conformance.checks.service._failing_parties import USER
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Headers

# Set by callers, proxies and tracing libraries.
IDENTIFIERS = ("Idempotency-Key", "X-Request-ID", "X-Correlation-ID", "traceparent")


def identifier(name: str) -> Headers:
    is_a_trace = name == "traceparent"
    value = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01" if is_a_trace else secrets.token_hex(16)
    return ((name, value),)


def served_with(service: Service, world: ServiceWorld, headers: Headers) -> None:
    """A call with these headers that is served; leaves the check out if the service refuses them."""
    orders = world.gateway.orders_of(USER)
    answer = service.serve(world.unseen_token(USER), headers)
    if not service.returns_orders(answer, orders):
        require_served(service.serve(world.unseen_token(USER)), orders)
        raise LeftOut("the service refuses a call with this header")
