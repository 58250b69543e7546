"""The behaviour of a service while a party around it fails, and its recovery."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from gateproof.conformance.kit.service.recovery import call_until_recovered
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import FIRST_PROXY_TOKENS_S, USERS, ServiceWorld
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import (
    SERVICE_ANSWER_S,
    SERVICE_BREAKER_S,
)
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Answer, Endpoint

USER, OTHER = USERS
MOST_TRIES = 10
# Tolerance: a timeout of exactly the limit ends a moment later.
MOMENT_S = 1.5
# A service that has just replaced its Proxy token may wait before it does so again.
ASKS_WITHIN_S = 6.0
HOP = {
    Endpoint.DISCOVERY: Hop.SERVICE_TO_GATEWAY,
    Endpoint.CORE_KEYS: Hop.SERVICE_TO_GATEWAY,
    Endpoint.TOKEN: Hop.SERVICE_TO_GATEWAY,
    Endpoint.REDEMPTION: Hop.SERVICE_TO_GATEWAY,
    Endpoint.MERCHANT_API: Hop.SERVICE_TO_MERCHANT,
}
# The specification does not limit the calls of the merchant's API.
IN_TIME = dict.fromkeys(HOP, "an answer in time, a few tries, ") | {Endpoint.MERCHANT_API: ""}


def require_works(service: Service, world: ServiceWorld) -> None:
    gateway = world.gateway
    require_served(service.serve(gateway.access_token(USER)), gateway.orders_of(USER))


def failing(
    service: Service, world: ServiceWorld, endpoint: Endpoint, failure: Answer, token: str
) -> tuple[Exchange, list[Call]]:
    """Calls the operation while an endpoint fails; returns the answer and the calls it caused.

    The token belongs to a new user: for a known user the service may still have a merchant token.
    """
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.script.always(endpoint, failure)
    answer = service.serve_once(token)
    gateway.script.clear()
    calls = gateway.journal.since(mark)
    require.that(
        any(call.endpoint is endpoint for call in calls),
        "operation of a user who is new",
        expected=f"a call of the {endpoint.value}",
        got="none",
    )
    return answer, calls


def all_fail(world: ServiceWorld) -> None:
    """From now on the gateway answers every request with 500, until the script is cleared."""
    for endpoint in (Endpoint.DISCOVERY, Endpoint.CORE_KEYS, Endpoint.TOKEN, Endpoint.REDEMPTION):
        world.gateway.script.always(endpoint, Answer(status=500))


def failing_token_endpoint(
    service: Service,
    world: ServiceWorld,
    failure: Answer,
    token: str = "",
    *,
    patiently: bool = False,
    times: int | None = None,
    within_s: float = 0.0,
) -> tuple[Exchange, list[Call]]:
    """Calls the operation while the gateway issues no Proxy token and refuses the old one.

    The gateway recovers after this many `times`; by default when the operation has been answered. A service
    that renews a Proxy token only at the end of its lifetime requests no other before that. Only if
    `patiently`, the check waits for it; otherwise, and if the wait fails, it makes the old token valid again
    and leaves the check out.
    A service that keeps a token for some seconds in any case needs a longer time (`within_s`). A service
    may request the new token by a timer: of the requests before the call, one counts.
    """
    gateway, begun, pause = world.gateway, time.monotonic(), 0.1
    first = gateway.journal.mark()
    until = begun + max(within_s, asks_within_s(world, patiently=patiently))
    gateway.revoke_proxy_tokens()
    if times is None:
        gateway.script.always(Endpoint.TOKEN, failure)
    else:
        gateway.script.tape(Endpoint.TOKEN, [failure] * times)
    while True:
        mark = gateway.journal.mark()
        answer = service.serve_once(token or world.unseen_token(USER))
        calls = gateway.journal.since(mark)
        by_a_timer = gateway.journal.since(first, Endpoint.TOKEN)[:1]
        if by_a_timer:
            gateway.script.clear()
            of_the_call = any(call.endpoint is Endpoint.TOKEN for call in calls)
            return answer, calls if of_the_call else [*by_a_timer, *calls]
        if time.monotonic() > until:
            gateway.script.clear()
            gateway.revive_proxy_tokens()
            raise LeftOut("the service requests no other Proxy token before the old one expires")
        wait_for(Cause.REQUEST, pause)
        pause = min(0.5 if time.monotonic() < begun + ASKS_WITHIN_S else 2.0, 1.5 * pause)


def asks_within_s(world: ServiceWorld, *, patiently: bool) -> float:
    """How long to wait for a service with an invalid Proxy token: a moment, or until its expiry."""
    ends = [token.announced_expiry for token in world.gateway.proxy_tokens if not token.revoked]
    left_s = max(ends, default=0.0) - time.monotonic()
    if not patiently or left_s > FIRST_PROXY_TOKENS_S:
        return ASKS_WITHIN_S
    return max(0.0, left_s) + ASKS_WITHIN_S


def called_since(world: ServiceWorld, mark: int, *endpoints: Endpoint) -> Callable[[Exchange], bool]:
    """Returns a function that is true if the service called one of these endpoints after `mark`."""
    return lambda _: bool(world.gateway.journal.since(mark, *endpoints))


def longest_call_s(world: ServiceWorld) -> float:
    """How long a call may take while a party fails."""
    return world.limits.longest_call_s or SERVICE_ANSWER_S


def expect_bounded(
    world: ServiceWorld, answer: Exchange, calls: Iterable[Call], *endpoints: Endpoint
) -> None:
    """Expects an answer in time, and a limited number of calls of the gateway for it.

    How long and how often the service calls the merchant's API is not limited, only recorded.
    """
    longest_s = longest_call_s(world)
    tries = {
        endpoint: sum(call.endpoint is endpoint for call in calls)
        for endpoint in (*endpoints, Endpoint.TOKEN)
    }
    elapsed = answer.answer.elapsed_s if answer.answer is not None else longest_s
    observe(tries=tries[endpoints[0]], answered_after_s=round(elapsed, 1))
    merchant_fails = tries.pop(Endpoint.MERCHANT_API, None) is not None
    expect.that(
        merchant_fails or (answer.answer is not None and elapsed <= longest_s + MOMENT_S),
        answer.step,
        expected=f"an answer within {longest_s:.0f} s",
        got=answer.outcome(),
        exchange=answer,
    )
    for endpoint, number in tries.items():
        expect.that(
            number <= MOST_TRIES,
            f"calls of the {endpoint.value} for one operation",
            expected=f"{MOST_TRIES} at most",
            got=f"{number}",
        )


def expect_no_orders(answer: Exchange, world: ServiceWorld) -> None:
    """Expects an answer without any orders."""
    expect.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )
    expect.that(
        not shows_orders(answer, world, *USERS),
        answer.step,
        expected="no business data",
        got="orders",
        exchange=answer,
    )


def shows_orders(answer: Exchange, world: ServiceWorld, *users: str) -> bool:
    """True if the answer contains any order of one of these users."""
    text = answer.answer.text() if answer.answer is not None else ""
    return any(order["id"] in text for user in users for order in world.gateway.orders_of(user))


def expect_recovered(
    service: Service,
    world: ServiceWorld,
    within_s: float | None = None,
    failed: Callable[[], str] | None = None,
) -> None:
    """Expects that the operation soon works after the fault, also for the user whose call failed.

    A service with one worker first has to end the calls that hang, so it has at least the time of one of
    them.
    """
    within_s = within_s or max(SERVICE_BREAKER_S, longest_call_s(world) + MOMENT_S)
    tokens = [(failed, "operation of the user whose call failed, after the fault has ended")]
    for token, named in [
        *(tokens if failed is not None else ()),
        (None, "operation after the fault has ended"),
    ]:
        answer = call_until_recovered(service, world, within_s, token)
        expect.that(
            service.returns_orders(answer, world.gateway.orders_of(USER)),
            named,
            expected="the orders",
            got=answer.outcome(),
            exchange=answer,
        )


def new_tokens_of(world: ServiceWorld, subject: str) -> Callable[[], str]:
    """New tokens of a refused user: each call authorizes again and returns a different token.

    A refused token may stay refused, and also all tokens issued within the same second, so waiting for the
    user's call to work takes longer than that.
    """
    return lambda: world.gateway.access_token(USER, sub=subject)


def require_recovered(service: Service, world: ServiceWorld, within_s: float = SERVICE_BREAKER_S) -> None:
    """Requires, as the positive twin, that the service recovers; another rule tests the recovery."""
    answer = call_until_recovered(service, world, within_s)
    require.that(
        service.returns_orders(answer, world.gateway.orders_of(USER)),
        "operation after the fault has ended",
        expected="the orders",
        got=answer.outcome(),
        exchange=answer,
    )


def credentials_in(call: Call, world: ServiceWorld, token: str) -> list[str]:
    """The backend's credentials, or the agent's token, that a call contains."""
    gateway, text = world.gateway, call.text()
    authorization = call.header("authorization") or ""
    known = {
        "the gateway access token": token in text,
        "a Proxy token": any(each.value in text for each in gateway.proxy_tokens),
        "the Proxy client's secret": gateway.setup.proxy_client_secret in text
        or authorization.lower().startswith("basic "),
        "a merchant token": any(each in text for each in gateway.merchant_tokens),
    }
    return [name for name, found in known.items() if found]


def fault(endpoint: Endpoint, name: str) -> Fault:
    return Fault(
        name=f"{endpoint.value} answers {name}",
        layer=Layer.HTTP,
        hop=HOP[endpoint],
        does=f"the {endpoint.value} ends in {name}",
        holds=f"{IN_TIME[endpoint]}no credential sent to anybody else, and success after the fault",
    )
