"""Bad tokens at the other methods and paths that may lead to the operation."""

from __future__ import annotations

from gateproof.conformance.checks.service._altered_tokens import (
    USER,
    expired,
    for_another_audience,
    good_token,
)
from gateproof.conformance.checks.service._ways_around import (
    ANOTHER_WAY,
    WAYS,
    bring_no_orders,
    other_ways,
    over_http,
    session_with_orders,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.wire.secret import Secret


@check("CHAL-05")
def no_way_around_takes_a_token_of_another_issuer(service: Service, world: ServiceWorld) -> None:
    """A token whose `iss` is not the core issuer shows no orders by any method or path."""
    token = world.gateway.access_token(USER, iss="https://issuer.other.example")
    _brings_no_orders_anywhere(service, world, token, "with a token of another issuer")


@check("CHAL-06")
def no_way_around_takes_a_token_for_another_audience(service: Service, world: ServiceWorld) -> None:
    """A token without the Resource indicator in `aud` shows no orders by any method or path."""
    token = for_another_audience(service, world)
    _brings_no_orders_anywhere(service, world, token, "with a token for another audience")


@check("CHAL-07")
def no_way_around_takes_an_expired_token(service: Service, world: ServiceWorld) -> None:
    """An expired token shows no orders by any method or path."""
    _brings_no_orders_anywhere(service, world, expired(world), "with an expired token")


def _brings_no_orders_anywhere(service: Service, world: ServiceWorld, token: str, with_what: str) -> None:
    """Redemption would accept the token, so a service that checks it on one path only is detected."""
    service.keyring.add(Secret("access_token", token))
    world.gateway.let_redeem(token, USER)
    good = good_token(service, world)
    if service.operation.kind == "mcp":
        session = session_with_orders(service, world, good)
        ways = (session.lone_call(token), *other_ways(session, token), *over_http(session, token))
    else:
        own = service.request((("Authorization", f"Bearer {token}"),))
        ways = (own, *(other for way in WAYS.values() for other in way(own)))

    bring_no_orders(
        world,
        (service.wire.send_once(ANOTHER_WAY, request) for request in ways),
        with_what=with_what,
    )
