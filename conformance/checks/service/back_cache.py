"""What the service does when its Proxy token is dead.

This check comes after those about the first calls: the first Proxy tokens of a world are said to live for a
short while, so that it can be seen what becomes of them.
"""

from __future__ import annotations

import time

from conformance.check import check
from conformance.checks.service._proxy_calls import USER, serves
from conformance.claims import LeftOut, expect, observe
from conformance.run.recovery import RECOVERS_WITHIN_S
from conformance.run.service_world import FIRST_PROXY_TOKENS_S, ServiceWorld
from conformance.service import Service
from fakes.gateway.gateway import ScriptedGateway
from fakes.gateway.proxy_tokens import PROXY_TOKEN_S

# A service that does something about a dead Proxy token does it soon.
MENDS_WITHIN_S = 10


@check("BACK-03")
def dead_proxy_token_is_replaced(service: Service, world: ServiceWorld) -> None:
    """When the gateway takes the Proxy token no more, the service gets another and goes on, and so once more.

    A call or two may fail over it. A service that goes by the lifetime alone is given that long, where it is
    not the whole hour, and as long again as a circuit breaker takes. One that asked for another while a short
    lifetime lasted has been seen going by it. Who has replaced one has yet to show that it was not the last.
    """
    gateway, standing = world.gateway, world.standing
    try:
        serves(service, world)
        kept = [token for token in gateway.proxy_tokens if not token.revoked]
        short = all(token.life_s == FIRST_PROXY_TOKENS_S for token in kept)
        gateway.proxy_token_life_s, begun = FIRST_PROXY_TOKENS_S, time.monotonic()
        lost = _lost_over_a_death(service, world, "it", short=short)
        observe(calls_lost=lost)
        if lost is not None:
            waited = time.monotonic() - begun > MENDS_WITHIN_S
            gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S if waited else PROXY_TOKEN_S
            # Of several workers, one may still have a token of before.
            short = short or len(kept) == 1
            again = _lost_over_a_death(service, world, "its replacement", short=short)
            standing.goes_by_lifetime = waited and again is not None
            observe(calls_lost_again=again)
    finally:
        # Who asks for another Proxy token at the end of its life alone is asked about that later on as well.
        gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S if standing.goes_by_lifetime else PROXY_TOKEN_S


def _lost_over_a_death(service: Service, world: ServiceWorld, which: str, *, short: bool) -> int | None:
    """How many calls fail once the Proxy token has died; None for who has another ready before that.

    Whoever goes by the lifetime alone is waited for where that is `short`.
    """
    gateway, far_ahead = world.gateway, world.standing.renews_far_ahead
    gateway.revoke_proxy_tokens()
    within_s = FIRST_PROXY_TOKENS_S + RECOVERS_WITHIN_S if short else MENDS_WITHIN_S
    lost = _until_it_works(service, world, within_s)
    if lost is None:
        gateway.revive_proxy_tokens()
        if not short and not far_ahead:
            raise LeftOut("the service keeps its Proxy token for the whole of its hour")

    expect.that(
        lost is not None or far_ahead,
        f"calls in the {FIRST_PROXY_TOKENS_S} s that a Proxy token was to live, after {which} had died",
        expected="a new Proxy token, and calls that work",
        got="none that works",
    )
    return lost


def _until_it_works(service: Service, world: ServiceWorld, within_s: float) -> int | None:
    """How many calls fail before one works; None when none does in time."""
    gateway: ScriptedGateway = world.gateway
    until, lost = time.monotonic() + within_s, 0
    while True:
        answer = service.serve_once(world.unseen_token(USER))
        if service.brings(answer, gateway.orders_of(USER)):
            return lost
        if time.monotonic() > until:
            return None
        lost += 1
        time.sleep(min(5.0, 0.1 * 2**lost))
