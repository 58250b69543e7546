"""Calls of users whose merchant token ends soon."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import Answer, Endpoint

USER = USERS[0]
# Lifetimes to try after the usual one. A service may use no token that ends within its reserve, or that has
# ended when a slow answer arrives.
_LONGER_S = (15.0, 45.0)


def end_of_a_short_token(
    service: Service,
    world: ServiceWorld,
    ask: Callable[[], Exchange],
    *,
    life_s: float,
    said: Callable[[float], str],
) -> float:
    """Requires a served call with a merchant token that ends soon, and returns when it ends.

    The token ends as soon as the service allows; `said` writes the time.
    """
    gateway = world.gateway
    answers = []
    for lives_s in (life_s, *_LONGER_S):
        expires_at = time.time() + lives_s
        gateway.script.always(Endpoint.REDEMPTION, Answer(members={"expires_at": said(expires_at)}))
        answers.append(ask())
        gateway.script.clear()
        if service.returns_orders(answers[-1], gateway.orders_of(USER)):
            return expires_at
    if service.returns_orders(ask(), gateway.orders_of(USER)):
        raise LeftOut(f"the service uses no merchant token that ends within {_LONGER_S[-1]:.0f} s")
    require_served(answers[0], gateway.orders_of(USER))
    raise LeftOut("the service did not serve a call with a merchant token that ends soon")
