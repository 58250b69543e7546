"""The first calls of all, when the service may know nothing of the gateway and have no Proxy token yet.

These checks stand first: later it has both. The first Proxy tokens of a world are said to live for a short
while, so that the checks that come next can see what becomes of them.
"""

from __future__ import annotations

import time
from itertools import chain, repeat

from gateproof.conformance.checks.service._proxy_calls import MOST_REQUESTS, USER, asks
from gateproof.conformance.checks.service._trouble import FOUND_WITHIN_S, OTHER, bounded, fault, shows_orders
from gateproof.conformance.kit.service.recovery import RECOVERS_WITHIN_S
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, observe, require
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import OK, Answer, Endpoint

BURST = 12
# Whoever is quick has the token before the others ask, so it comes late, though within a second at most.
# On a busy machine a service that waits for a second may give that up: the later tries are answered at once.
DELAYS_S = (0.5, 0.0, 0.0)
# A token of somebody else's: the keys are asked for to know it, and no Proxy token is.
FOREIGN = ["https://another.example"]


@check("BACK-06", needs=["faults"])
def first_fetch_of_the_keys_is_not_the_last(service: Service, world: ServiceWorld) -> None:
    """Where discovery and then the key set fail before they ever came, the service asks for them once more.

    A second fetch is all that is waited for: the operation itself would get a Proxy token. It is called where
    the service asks for nothing any more.
    """
    gateway, failed = world.gateway, Answer(status=500)
    if gateway.journal.since(0, Endpoint.DISCOVERY, Endpoint.CORE_KEYS):
        raise LeftOut("the service knew of the gateway's keys before it was first called")
    gateway.script.always(Endpoint.DISCOVERY, failed)
    gateway.script.always(Endpoint.CORE_KEYS, failed)
    answer = service.serve_once(world.unseen_token(USER, aud=FOREIGN))
    calls = gateway.journal.since(0)
    asked = sum(call.endpoint is Endpoint.DISCOVERY for call in calls)
    if not asked:
        raise LeftOut("the service asks for no discovery document when it first meets a token")
    count_fault(fault(Endpoint.DISCOVERY, "500"), asked)
    bounded(answer, calls, Endpoint.DISCOVERY)
    gateway.script.always(Endpoint.DISCOVERY, OK)
    again, keys = _asks_again(service, world, Endpoint.DISCOVERY), Endpoint.CORE_KEYS
    failures = len(gateway.journal.since(0, keys))
    gateway.script.clear()
    if again and failures:
        count_fault(fault(keys, "500"), failures)
        again = _asks_again(service, world, keys)
    if not again:
        good = service.serve_once(world.unseen_token(USER))
        again = service.brings(good, gateway.orders_of(USER))
    expect.that(
        again,
        f"{FOUND_WITHIN_S:.0f} s after a first fetch of the discovery document or of the key set has failed",
        expected="another fetch",
        got="none, and an operation that fails as all will that come next",
    )


def _asks_again(service: Service, world: ServiceWorld, endpoint: Endpoint) -> bool:
    """Whether the service comes here in the time that it is given, and finds all well."""
    gateway, until, pause = world.gateway, time.monotonic() + FOUND_WITHIN_S, 0.1
    while True:
        service.serve_once(world.unseen_token(USER, aud=FOREIGN))
        if any(call.status == 200 for call in gateway.journal.since(0, endpoint)):
            return True
        if time.monotonic() > until:
            return False
        time.sleep(pause)
        pause = min(2.0, 1.5 * pause)


@check("BACK-06", needs=["faults"])
def first_request_for_a_proxy_token_is_not_the_last(service: Service, world: ServiceWorld) -> None:
    """Where the very first request for a Proxy token fails, calls that come later get one, and work.

    Later calls come all at once, until one is served: they are the first calls that get a Proxy token, and
    how many are asked for then is another rule's business, and is kept for it.
    """
    gateway = world.gateway
    if gateway.journal.since(0, Endpoint.TOKEN):
        raise LeftOut("the service got its Proxy token before it was first called")
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.TOKEN, Answer(status=500))
    answer = service.serve_once(world.unseen_token(USER))
    gateway.script.clear()
    calls = gateway.journal.since(mark)
    asked = sum(call.endpoint is Endpoint.TOKEN for call in calls)
    if not asked:
        raise LeftOut("the service asks for no Proxy token when it is first called")
    count_fault(fault(Endpoint.TOKEN, "500"), asked)
    bounded(answer, calls, Endpoint.TOKEN)
    until, pause, delays = time.monotonic() + RECOVERS_WITHIN_S, 0.1, chain(DELAYS_S, repeat(0.0))
    good, asked = _called_at_once(service, world, next(delays))
    again = most = asked
    while not good and time.monotonic() < until:
        time.sleep(pause)
        pause = min(2.0, 1.5 * pause)
        good, asked = _called_at_once(service, world, next(delays))
        again, most = again + asked, max(most, asked)
    # Who asked again, and serves nobody with what it got, may be one that serves nobody ever.
    require.that(
        good > 0 or not again, f"{BURST} first calls at once", expected="one that is served", got="none"
    )
    expect.that(
        good > 0,
        f"calls in the {RECOVERS_WITHIN_S:.0f} s after the first request for a Proxy token has failed",
        expected="calls that work, with another request",
        got="none that works",
    )
    world.standing.asked_by_first_calls = asked or most


@check("BACK-02")
def burst_of_first_calls_shares_a_proxy_token(service: Service, world: ServiceWorld) -> None:
    """Calls that come all at once before there is a Proxy token do not fetch one each."""
    gateway, known = world.gateway, world.standing.asked_by_first_calls
    if known is None and gateway.journal.since(0, Endpoint.TOKEN):
        raise LeftOut("the service got its Proxy token before it was first called")
    asked = _burst(service, world) if known is None else known
    if asks(service, world):
        # Not because another worker process had none: there are no more than so many.
        world.standing.renews_far_ahead = all(asks(service, world) for _ in range(MOST_REQUESTS))
        # It renews so far ahead that it has no use for a token of a short life: it still has none to reuse.
        gateway.proxy_token_life_s = PROXY_TOKEN_S
        # Where everybody has one by now, what the first burst came to is what there is to judge.
        asked = _burst(service, world) or asked

    if not asked:
        raise LeftOut("the Proxy token was there before the first calls that were served")
    observe(requests_in_a_burst=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {BURST} first calls at once",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )


def _burst(service: Service, world: ServiceWorld) -> int:
    """How many Proxy tokens are asked for when many users call at once, of whom none is served yet.

    A service that has just started may give its callers up for a late token, and is called again. If the
    served calls need no request, an earlier try got the token, and the requests of that try count.
    """
    most = 0
    for delay_s in DELAYS_S:
        good, asked = _called_at_once(service, world, delay_s)
        most = max(most, asked)
        if good:
            break
    require.that(good > 0, f"{BURST} first calls at once", expected="one that is served", got="none")
    return asked or most


def _called_at_once(service: Service, world: ServiceWorld, delay_s: float) -> tuple[int, int]:
    """How many calls are served, and how many Proxy tokens are asked for.

    They are two users' calls: whether these get mixed is another rule's business, and is kept for it.
    """
    gateway, mark = world.gateway, world.gateway.journal.mark()
    service.connect(BURST)
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=delay_s))
    users = [user for _ in range(BURST // len(USERS)) for user in USERS]
    answers = service.serve_all([world.unseen_token(user) for user in users], at_once=BURST)
    gateway.script.clear()
    called = list(zip(users, answers, strict=True))
    if any(shows_orders(answer, world, OTHER if user == USER else USER) for user, answer in called):
        world.standing.mixed_first_calls = True
    # That every order is in it is another rule's business again.
    good = sum(shows_orders(answer, world, user) for user, answer in called)
    return good, len(gateway.journal.since(mark, Endpoint.TOKEN))
