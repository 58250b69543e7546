"""A token that was spoilt in one way, beside the good one."""

from __future__ import annotations

from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, served, turned_away

USER = USERS[0]


def good_token(service: Service, world: ServiceWorld) -> str:
    """The positive twin: the token before it was spoilt is served."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    served(service.serve(token), gateway.orders_of(USER))
    return token


def refused(service: Service, world: ServiceWorld, token: str) -> None:
    """The token is turned away, though the gateway would redeem it: the service has to look itself."""
    world.gateway.let_redeem(token, USER)
    turned_away(lambda: service.serve(token))
