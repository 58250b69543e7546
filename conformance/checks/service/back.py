"""The very first calls, when the service may have no gateway keys and no Proxy token.

These checks run first, because later the service has both. The first Proxy tokens of a world have a short
lifetime, so that the next checks can test what happens when they expire.
"""

from __future__ import annotations

import time
from itertools import chain, repeat

from gateproof.conformance.checks.service._failing_parties import (
    OTHER,
    expect_bounded,
    fault,
    shows_orders,
)
from gateproof.conformance.checks.service._proxy_calls import USER, requests_proxy_token
from gateproof.conformance.kit.service.processes import PROCESSES, processes
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, observe, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_REFETCH_S, SERVICE_BREAKER_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import OK, Answer, Endpoint

BURST = 12
# A larger burst does not fit into the queue of a small service.
LARGEST_BURST = 48
# The delay of the Proxy token, a second at most: a fast service must not have it before the other calls come.
# On a busy machine a service with a timeout of a second may give up, so later requests are answered at once.
DELAYS_S = (0.5, 0.0, 0.0)
# Another audience: the service fetches keys to check such a token, and requests no Proxy token for it.
FOREIGN = ["https://another.example"]


@check("BACK-06", needs=["faults"], turn=Turn.FIRST_CALLS)
def first_fetch_of_the_keys_is_not_the_last(service: Service, world: ServiceWorld) -> None:
    """If the first fetch of discovery or key set fails, the service fetches it again on a later call.

    The check waits only for a second fetch, because the operation itself would get a Proxy token. It calls
    the operation if the service fetches nothing by itself.
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
    expect_bounded(world, answer, calls, Endpoint.DISCOVERY)
    gateway.script.always(Endpoint.DISCOVERY, OK)
    again, keys = _asks_again(service, world, Endpoint.DISCOVERY), Endpoint.CORE_KEYS
    failures = len(gateway.journal.since(0, keys))
    gateway.script.clear()
    if again and failures:
        count_fault(fault(keys, "500"), failures)
        again = _asks_again(service, world, keys)
    if not again:
        good = service.serve_once(world.unseen_token(USER))
        again = service.returns_orders(good, gateway.orders_of(USER))
    expect.that(
        again,
        f"{KEY_REFETCH_S:.0f} s after a first fetch of the discovery document or of the key set has failed",
        expected="another fetch",
        got="none, and an operation that fails",
    )


def _asks_again(service: Service, world: ServiceWorld, endpoint: Endpoint) -> bool:
    """True if the service fetches this endpoint in the given time, and the fetch succeeds."""
    gateway, until, pause = world.gateway, time.monotonic() + KEY_REFETCH_S, 0.1
    while True:
        service.serve_once(world.unseen_token(USER, aud=FOREIGN))
        if any(call.status == 200 for call in gateway.journal.since(0, endpoint)):
            return True
        if time.monotonic() > until:
            return False
        wait_for(Cause.RECOVERY, pause)
        pause = min(2.0, 1.5 * pause)


@check("BACK-06", needs=["faults"], turn=Turn.FIRST_CALLS)
def first_request_for_a_proxy_token_is_not_the_last(service: Service, world: ServiceWorld) -> None:
    """If the first Proxy token request fails, later calls get a Proxy token and work.

    The later calls are concurrent until one is served: they are the first calls that get a Proxy token, and
    another rule judges how many requests that takes.
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
    expect_bounded(world, answer, calls, Endpoint.TOKEN)
    until, pause, delays = time.monotonic() + SERVICE_BREAKER_S, 0.1, chain(DELAYS_S, repeat(0.0))
    good, asked = _called_at_once(service, world, next(delays))
    again = most = asked
    while not good and time.monotonic() < until:
        wait_for(Cause.RECOVERY, pause)
        pause = min(2.0, 1.5 * pause)
        good, asked = _called_at_once(service, world, next(delays))
        again, most = again + asked, max(most, asked)
    # A service that requested a token again but serves no call with it may never serve one.
    require.that(
        good > 0 or not again,
        f"{_burst_of(world)} first calls at once",
        expected="one that is served",
        got="none",
    )
    expect.that(
        good > 0,
        f"calls in the {SERVICE_BREAKER_S:.0f} s after the first request for a Proxy token has failed",
        expected="calls that work, with another request",
        got="none that works",
    )
    world.service_state.asked_by_first_calls = asked or most


@check("BACK-02", turn=Turn.FIRST_CALLS)
def burst_of_first_calls_shares_a_proxy_token(service: Service, world: ServiceWorld) -> None:
    """Concurrent first calls share Proxy tokens: one request for each worker process at most."""
    gateway, known = world.gateway, world.service_state.asked_by_first_calls
    most = max(PROCESSES, processes(world))
    if most >= LARGEST_BURST:
        raise LeftOut(f"so many processes may request a Proxy token for {LARGEST_BURST} calls at once")
    if known is None and gateway.journal.since(0, Endpoint.TOKEN):
        raise LeftOut("the service got its Proxy token before it was first called")
    asked = _burst(service, world) if known is None else known
    if requests_proxy_token(service, world):
        # More calls than worker processes, so the reason is not that another process had no token.
        world.service_state.renews_far_ahead = all(
            requests_proxy_token(service, world) for _ in range(processes(world))
        )
        # It renews so early that it never reuses a token with a short lifetime.
        gateway.proxy_token_life_s = PROXY_TOKEN_S
        # If each process has a token by now, the first burst is judged.
        asked = _burst(service, world) or asked

    if not asked:
        raise LeftOut("the Proxy token was there before the first calls that were served")
    observe(requests_in_a_burst=asked)
    expect.that(
        asked <= most,
        f"Proxy token requests for {_burst_of(world)} first calls at once",
        expected=f"{most} at most",
        got=f"{asked}",
    )


def _burst_of(world: ServiceWorld) -> int:
    """The number of concurrent calls: more than there are processes."""
    return min(LARGEST_BURST, max(BURST, 2 * processes(world)))


def _burst(service: Service, world: ServiceWorld) -> int:
    """The number of Proxy token requests for concurrent first calls of many users.

    A service that has just started may give up on a delayed token; it is then called again. If the calls that
    it serves need no request, an earlier try got the token, and the requests of that try count.
    """
    most = 0
    for delay_s in DELAYS_S:
        good, asked = _called_at_once(service, world, delay_s)
        most = max(most, asked)
        if good:
            break
    require.that(
        good > 0, f"{_burst_of(world)} first calls at once", expected="one that is served", got="none"
    )
    return asked or most


def _called_at_once(service: Service, world: ServiceWorld, delay_s: float) -> tuple[int, int]:
    """The number of calls served, and of Proxy tokens requested.

    The calls are of two users. Another rule judges whether their orders are mixed up.
    """
    gateway, mark, number = world.gateway, world.gateway.journal.mark(), _burst_of(world)
    service.connect(number)
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=delay_s))
    users = [user for _ in range(number // len(USERS)) for user in USERS]
    answers = service.serve_all([world.unseen_token(user) for user in users], at_once=number)
    gateway.script.clear()
    called = list(zip(users, answers, strict=True))
    if any(shows_orders(answer, world, OTHER if user == USER else USER) for user, answer in called):
        world.service_state.mixed_first_calls = True
    # Another rule judges whether the answer contains all orders.
    good = sum(shows_orders(answer, world, user) for user, answer in called)
    return good, len(gateway.journal.since(mark, Endpoint.TOKEN))
