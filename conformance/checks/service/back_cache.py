"""How long the service keeps its Proxy token, and what it does when it is dead.

These checks come after those about the first calls: the first Proxy tokens of a world are said to live for a
short while, so that it can be seen what becomes of them.
"""

from __future__ import annotations

import time

from conformance.check import check
from conformance.checks.service._proxy_calls import MOST_REQUESTS, USER, asks, serves
from conformance.claims import LeftOut, expect, observe
from conformance.run.recovery import RECOVERS_WITHIN_S
from conformance.run.service_world import FIRST_PROXY_TOKENS_S, ServiceWorld
from conformance.service import Service
from fakes.gateway.gateway import ScriptedGateway
from fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from fakes.gateway.script import Endpoint

IN_A_ROW = 20
# An hour in milliseconds that is taken for seconds, or the other way round, is three seconds and a half; and
# there may be a worker process that has had no call for each pause but one.
PAUSES, PAUSE_S = 4, 4.5
# A service that does something about a dead Proxy token does it soon.
MENDS_WITHIN_S = 10


@check("BACK-03")
def dead_proxy_token_is_replaced(service: Service, world: ServiceWorld) -> None:
    """When the gateway takes the Proxy token no more, the service gets another and goes on, and so once more.

    A call or two may fail over it. A service that goes by the lifetime alone is given that long, where it is
    not the whole hour, and as long again as a circuit breaker takes. One that asked for another while a short
    lifetime lasted has been seen going by it. Who has replaced one has yet to show that it was not the last.
    """
    gateway = world.gateway
    try:
        serves(service, world)
        kept = [token for token in gateway.proxy_tokens if not token.revoked]
        short = all(token.life_s == FIRST_PROXY_TOKENS_S for token in kept)
        gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S
        lost = _lost_over_a_death(service, world, "it", short=short)
        observe(calls_lost=lost)
        if lost is not None:
            gateway.proxy_token_life_s = PROXY_TOKEN_S
            # Of several workers, one may still have a token of before.
            short = short or len(kept) == 1
            observe(calls_lost_again=_lost_over_a_death(service, world, "its replacement", short=short))
    finally:
        gateway.proxy_token_life_s = PROXY_TOKEN_S


@check("BACK-02")
def proxy_token_is_reused(service: Service, world: ServiceWorld) -> None:
    """Twenty calls in a row share a Proxy token that lasts an hour, and so do calls a few seconds later.

    Whoever asks for another one after every one of four short pauses keeps it for seconds.
    """
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.proxy_token_life_s = PROXY_TOKEN_S
    for _ in range(IN_A_ROW):
        serves(service, world)
    asked = len(gateway.journal.since(mark, Endpoint.TOKEN))

    observe(requests_in_a_row=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {IN_A_ROW} calls in a row",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )
    expect.that(
        not all(asks(service, world, PAUSE_S) for _ in range(PAUSES)),
        f"calls after each of {PAUSES} pauses of {PAUSE_S:g} s",
        expected="the Proxy token of before, once at least",
        got="a request for a new one each time",
    )


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
