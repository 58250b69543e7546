"""Calls that show whether a service needs a new Proxy token."""

from __future__ import annotations

from gateproof.conformance.kit.service.processes import PROXY_TOKEN_HEADER
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.fakes.gateway.script import Endpoint

USER = USERS[0]


def require_served_uncached(service: Service, world: ServiceWorld) -> None:
    """Requires that the service serves a call for which it can have no cached merchant token."""
    require_served(service.serve(world.unseen_token(USER)), world.gateway.orders_of(USER))


def requests_proxy_token(service: Service, world: ServiceWorld, after_s: float = 0.0) -> bool:
    """True if the service requested another Proxy token within these seconds, or for the call after them."""
    mark = world.gateway.journal.mark()
    wait_for(Cause.EXPIRY, after_s)
    require_served_uncached(service, world)
    return bool(world.gateway.journal.since(mark, Endpoint.TOKEN))


def refused_proxy_tokens(world: ServiceWorld, mark: int) -> set[str]:
    """The Proxy tokens of the redemptions since `mark` that were answered with 401."""
    calls = world.gateway.journal.since(mark, Endpoint.REDEMPTION)
    return {call.header(PROXY_TOKEN_HEADER) or "" for call in calls if call.status == 401}
