"""Calls when answers of the merchant API are cacheable: they still belong to one user."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import formatdate

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.fakes.gateway.script import Answer, Endpoint

_LONG_S = 3600
# Caching headers of a merchant API. None of them allows the service to show one user's orders to another.
CACHING: Mapping[str, Callable[[], Mapping[str, str | None]]] = {
    "nothing": lambda: {"cache-control": None},
    "private, max-age": lambda: {"cache-control": "private, max-age=300"},
    "max-age": lambda: {"cache-control": "max-age=300"},
    "Expires": lambda: {"cache-control": None, "expires": formatdate(time.time() + _LONG_S, usegmt=True)},
}


@check("BACK-10", cases=CACHING)
def answers_that_may_be_cached_bring_each_user_their_own(
    service: Service, world: ServiceWorld, case: Callable[[], Mapping[str, str | None]]
) -> None:
    """Two users in turn each get their own orders, whatever caching headers the merchant API sends."""
    gateway = world.gateway
    for user in (USER, OTHER, USER):
        gateway.script.always(Endpoint.MERCHANT_API, Answer(headers=case()))
        answer = service.serve(world.unseen_token(user))
        others = [each for each in USERS if each != user]
        expect.that(
            not shows_orders(answer, world, *others),
            f"a call of {user}, after the merchant API's answer to another user could be cached",
            expected="only their own orders",
            got="orders of the other",
            exchange=answer,
        )
        require_served(answer, gateway.orders_of(user))
