"""A user for whom the merchant has no orders."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.fakes.gateway.script import Answer, Endpoint


@check("BACK-10")
def user_without_orders_gets_nobody_elses(service: Service, world: ServiceWorld) -> None:
    """A user for whom the merchant API returns an empty list gets no orders of another user.

    Both users are served before and after that. What the service says of an empty list is its choice.
    """
    gateway = world.gateway
    for user in (OTHER, USER):
        require_served(service.serve(world.unseen_token(user)), gateway.orders_of(user))
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.MERCHANT_API, Answer(members={"orders": []}))
    answer = service.serve_once(world.unseen_token(OTHER))
    gateway.script.clear()
    require.that(
        bool(gateway.journal.since(mark, Endpoint.MERCHANT_API)),
        "operation of a user without orders",
        expected="a call of the merchant API",
        got="none",
    )

    require.that(
        answer.answer is not None,
        "operation of a user without orders",
        expected="an answer",
        got=answer.outcome(),
        exchange=answer,
    )
    expect.that(
        not shows_orders(answer, world, USER),
        "operation of a user without orders, after another user's",
        expected="no orders",
        got="the orders of another user",
        exchange=answer,
    )
    require_served(service.serve(world.unseen_token(OTHER)), gateway.orders_of(OTHER))
