"""How the service gets its Proxy token, for how long it keeps it, and what it does when it is dead.

The check about the first calls stands first: later there is a Proxy token already. The first ones of a world
are said to live for a short while, so that the second check can see what becomes of them.
"""

from __future__ import annotations

import time

from conformance.check import check
from conformance.claims import LeftOut, expect, observe, require
from conformance.run.recovery import RECOVERS_WITHIN_S
from conformance.run.service_world import FIRST_PROXY_TOKENS_S, USERS, ServiceWorld
from conformance.service import Service, served
from fakes.gateway.gateway import ScriptedGateway
from fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from fakes.gateway.script import Answer, Endpoint

USER = USERS[0]
BURST = 12
IN_A_ROW = 20
# One for each worker process of the service (rule BACK-02).
MOST_REQUESTS = 4
# An hour in milliseconds that is taken for seconds, or the other way round, is three seconds and a half; and
# there may be a worker process that has had no call for each pause but one.
PAUSES, PAUSE_S = 4, 4.5
# A service that does something about a dead Proxy token does it soon.
MENDS_WITHIN_S = 10


@check("BACK-02")
def burst_of_first_calls_shares_a_proxy_token(service: Service, world: ServiceWorld) -> None:
    """Calls that come all at once before there is a Proxy token do not fetch one each."""
    gateway = world.gateway
    if gateway.journal.since(0, Endpoint.TOKEN):
        raise LeftOut("the service got its Proxy token before it was first called")
    asked = _burst(service, world)
    if _asked(service, world):
        # Not because another worker process had none: there are no more than so many.
        world.standing.renews_far_ahead = all(_asked(service, world) for _ in range(MOST_REQUESTS))
        # It renews so far ahead that it has no use for a token of a short life: it still has none to reuse.
        gateway.proxy_token_life_s = PROXY_TOKEN_S
        # Where everybody has one by now, what the first burst came to is what there is to judge.
        asked = _burst(service, world) or asked

    observe(requests_in_a_burst=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {BURST} first calls at once",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )


@check("BACK-03")
def dead_proxy_token_is_replaced(service: Service, world: ServiceWorld) -> None:
    """When the gateway takes the Proxy token no more, the service gets another and goes on.

    A call or two may fail over it. A service that goes by the lifetime alone is given that long, where it is
    not the whole hour, and as long again as a circuit breaker takes. One that asked for another while a short
    lifetime lasted has been seen going by it.
    """
    gateway = world.gateway
    try:
        _serve(service, world)
    finally:
        gateway.proxy_token_life_s = PROXY_TOKEN_S
    short = all(token.life_s == FIRST_PROXY_TOKENS_S for token in gateway.proxy_tokens if not token.revoked)
    gateway.revoke_proxy_tokens()
    lost = _until_it_works(
        service, world, FIRST_PROXY_TOKENS_S + RECOVERS_WITHIN_S if short else MENDS_WITHIN_S
    )
    if lost is None:
        gateway.revive_proxy_tokens()
        if not short and not world.standing.renews_far_ahead:
            raise LeftOut("the service keeps its Proxy token for the whole of its hour")

    observe(calls_lost=-1 if lost is None else lost)
    expect.that(
        lost is not None or world.standing.renews_far_ahead,
        f"calls in the {FIRST_PROXY_TOKENS_S} s that a Proxy token was to live, after it had died",
        expected="a new Proxy token, and calls that work",
        got="none that works",
    )


@check("BACK-02")
def proxy_token_is_reused(service: Service, world: ServiceWorld) -> None:
    """Twenty calls in a row share a Proxy token that lasts an hour, and so do calls a few seconds later.

    Whoever asks for another one after every one of four short pauses keeps it for seconds.
    """
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.proxy_token_life_s = PROXY_TOKEN_S
    for _ in range(IN_A_ROW):
        _serve(service, world)
    asked = len(gateway.journal.since(mark, Endpoint.TOKEN))

    observe(requests_in_a_row=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {IN_A_ROW} calls in a row",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )
    expect.that(
        not all(_asked(service, world, PAUSE_S) for _ in range(PAUSES)),
        f"calls after each of {PAUSES} pauses of {PAUSE_S:g} s",
        expected="the Proxy token of before, once at least",
        got="a request for a new one each time",
    )


def _asked(service: Service, world: ServiceWorld, after_s: float = 0.0) -> bool:
    """Whether a call some seconds later needs another Proxy token, or it was got meanwhile."""
    mark = world.gateway.journal.mark()
    time.sleep(after_s)
    _serve(service, world)
    return bool(world.gateway.journal.since(mark, Endpoint.TOKEN))


def _burst(service: Service, world: ServiceWorld) -> int:
    """How many Proxy tokens are asked for when many users call at once, of whom none is served yet.

    Whoever is quick has the token before the others ask, so it comes late; a service that has just started
    and gives its callers up for it is called once more.
    """
    # Whoever waits for no more than a second gets it.
    for delay_s in (0.5, 0.0):
        good, asked = _called_at_once(service, world, delay_s)
        if good:
            break
    require.that(good > 0, f"{BURST} first calls at once", expected="one that is served", got="none")
    return asked


def _called_at_once(service: Service, world: ServiceWorld, delay_s: float) -> tuple[int, int]:
    """How many calls are served, and how many Proxy tokens are asked for."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    service.connect(BURST)
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=delay_s))
    answers = service.serve_all([world.unseen_token(USER) for _ in range(BURST)], at_once=BURST)
    gateway.script.clear()
    good = sum(service.brings(answer, gateway.orders_of(USER)) for answer in answers)
    return good, len(gateway.journal.since(mark, Endpoint.TOKEN))


def _serve(service: Service, world: ServiceWorld) -> None:
    served(service.serve(world.unseen_token(USER)), world.gateway.orders_of(USER))


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
