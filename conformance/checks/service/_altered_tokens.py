"""A token with one fault, and its good counterpart."""

from __future__ import annotations

import time

from gateproof.conformance.kit.service.service import Service, expect_refused_twice, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.time_limits import SERVICE_LEEWAY_S

USER = USERS[0]


def good_token(service: Service, world: ServiceWorld) -> str:
    """Requires, as the positive twin, that the service accepts the unaltered token; returns it."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    require_served(service.serve(token), gateway.orders_of(USER))
    return token


def expired(world: ServiceWorld) -> str:
    """A token that has expired beyond any leeway."""
    return world.gateway.access_token(USER, exp=int(time.time()) - 2 * SERVICE_LEEWAY_S)


def refused(service: Service, world: ServiceWorld, token: str) -> None:
    """Expects that the service refuses the token itself: the gateway would redeem it."""
    world.gateway.let_redeem(token, USER)
    expect_refused_twice(lambda: service.serve(token), lambda: service.serve_once(token))


def for_another_audience(service: Service, world: ServiceWorld) -> str:
    """A token for the service; for a third party if the service's URL is the Resource indicator."""
    own = service.service_url
    audience = own if own != world.gateway.setup.indicator else "https://api.other.example/v1"
    return world.gateway.access_token(USER, aud=[audience])
