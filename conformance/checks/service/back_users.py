"""Whose merchant token is whose."""

from __future__ import annotations

from conformance.check import check
from conformance.checks.service._trouble import OTHER, USER, shows_orders
from conformance.claims import expect, require
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, holds_orders, served
from fakes.gateway.script import Answer, Endpoint


@check("BACK-10")
def two_users_calls_never_mix(service: Service, world: ServiceWorld) -> None:
    """Calls of two users at the same time each bring their own orders, and never the other's."""
    gateway = world.gateway
    for user in USERS:
        answer = service.serve(gateway.access_token(user))
        expect.that(
            not shows_orders(answer, world, OTHER if user == USER else USER),
            f"a call of {user}, one user after the other",
            expected="nobody's but their own orders",
            got="orders of the other",
            exchange=answer,
        )
        served(answer, gateway.orders_of(user))
    # Answers that come late meet each other.
    gateway.script.always(Endpoint.REDEMPTION, Answer(delay_s=0.03))
    gateway.script.always(Endpoint.MERCHANT_API, Answer(delay_s=0.03))
    users = [user for _ in range(16) for user in USERS]
    # Nobody has redeemed these before: a merchant token that is kept for a user meets no other.
    answers = service.serve_all([world.unseen_token(user) for user in users], at_once=8)
    gateway.script.clear()
    mixed = [
        user
        for user, answer in zip(users, answers, strict=True)
        if shows_orders(answer, world, OTHER if user == USER else USER)
    ]
    own = sum(
        holds_orders(answer, gateway.orders_of(user)) for user, answer in zip(users, answers, strict=True)
    )

    expect.that(
        not mixed,
        f"{len(users)} calls of two users at the same time",
        expected="nobody's but their own orders",
        got=f"{len(mixed)} with the other's",
    )
    require.that(
        own > len(users) // 2,
        f"{len(users)} calls of two users at the same time",
        expected="most of them served, or nothing can get mixed up",
        got=f"{own}",
    )
