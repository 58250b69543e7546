"""The first calls of all, when the service may have no Proxy token yet.

This check stands first: later there is one. The first Proxy tokens of a world are said to live for a short
while, so that the checks that come next can see what becomes of them.
"""

from __future__ import annotations

from conformance.check import check
from conformance.checks.service._proxy_calls import MOST_REQUESTS, USER, asks
from conformance.claims import LeftOut, expect, observe, require
from conformance.run.service_world import ServiceWorld
from conformance.service import Service
from fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from fakes.gateway.script import Answer, Endpoint

BURST = 12


@check("BACK-02")
def burst_of_first_calls_shares_a_proxy_token(service: Service, world: ServiceWorld) -> None:
    """Calls that come all at once before there is a Proxy token do not fetch one each."""
    gateway = world.gateway
    if gateway.journal.since(0, Endpoint.TOKEN):
        raise LeftOut("the service got its Proxy token before it was first called")
    asked = _burst(service, world)
    if asks(service, world):
        # Not because another worker process had none: there are no more than so many.
        world.standing.renews_far_ahead = all(asks(service, world) for _ in range(MOST_REQUESTS))
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


def _burst(service: Service, world: ServiceWorld) -> int:
    """How many Proxy tokens are asked for when many users call at once, of whom none is served yet.

    Whoever is quick has the token before the others ask, so it comes late, though within a second at most.
    A service that has just started may give its callers up for it, and is called once more.
    """
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
