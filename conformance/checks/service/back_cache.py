"""The behaviour of a service whose Proxy token is no longer valid.

These checks run after those about the first calls: the first Proxy tokens of a world have a short lifetime,
so that their end can be seen.
"""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._proxy_calls import USER, serves
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import FIRST_PROXY_TOKENS_S, FirstDeath, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.time_limits import SERVICE_BREAKER_S
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import Endpoint

# A service that replaces an invalid Proxy token does so soon.
MENDS_WITHIN_S = 10


@check("BACK-03")
def dead_proxy_token_is_replaced(service: Service, world: ServiceWorld) -> None:
    """When the gateway rejects the Proxy token, the service gets another one, and calls work again.

    One or two calls may fail meanwhile. A service that uses only the lifetime gets that long, if it is not
    the whole hour, and the time of a circuit breaker in addition. A service that requested another token
    during a short lifetime has been seen to use the lifetime.
    """
    _first_invalidation(service, world)


@check("BACK-03")
def replacement_of_a_dead_proxy_token_is_replaced(service: Service, world: ServiceWorld) -> None:
    """When the gateway rejects the replacement as well, the service gets a third Proxy token.

    A service that replaces its token on a refusal may wait before it does so again, because any user's bad
    token could cause more requests.
    """
    gateway, service_state = world.gateway, world.service_state
    first = service_state.first_death or _first_invalidation(service, world)
    if not first.mended:
        raise LeftOut("the service has not replaced the first Proxy token")
    gateway.proxy_token_life_s = _life_s(goes_by_it=first.waited)
    try:
        lost = _calls_lost(service, world, short=first.short)
        if lost is None and first.by_a_refusal:
            raise LeftOut(
                "the service has just replaced a refused Proxy token, and may wait before it does so again"
            )
        _works_again(world, lost, "its replacement", short=first.short)
        observe(calls_lost_again=lost)
        service_state.goes_by_lifetime = first.waited and lost is not None
    finally:
        # A service that requests another Proxy token only at the end of its lifetime is tested again later.
        gateway.proxy_token_life_s = _life_s(goes_by_it=service_state.goes_by_lifetime)


def _first_invalidation(service: Service, world: ServiceWorld) -> FirstDeath:
    """The end of the service's current Proxy token; the replacement has a short stated lifetime."""
    gateway, service_state = world.gateway, world.service_state
    serves(service, world)
    kept = [token for token in gateway.proxy_tokens if not token.revoked]
    short = _all_short(world)
    service_state.first_death, mark = FirstDeath(), gateway.journal.mark()
    gateway.proxy_token_life_s, begun = FIRST_PROXY_TOKENS_S, time.monotonic()
    try:
        lost = _calls_lost(service, world, short=short)
        _works_again(world, lost, "it", short=short)
    finally:
        gateway.proxy_token_life_s = PROXY_TOKEN_S
    observe(calls_lost=lost)
    if lost is not None:
        waited = time.monotonic() - begun > MENDS_WITHIN_S
        gateway.proxy_token_life_s = _life_s(goes_by_it=waited)
        service_state.first_death = FirstDeath(
            mended=True,
            waited=waited,
            by_a_refusal=not waited and _was_refused_first(world, mark),
            # One of several workers may still have an earlier token.
            short=(short or len(kept) == 1) and _all_short(world),
        )
    return service_state.first_death


def _life_s(*, goes_by_it: bool) -> int:
    """The stated lifetime of later Proxy tokens: an hour, unless the check needs to see their end."""
    return FIRST_PROXY_TOKENS_S if goes_by_it else PROXY_TOKEN_S


def _all_short(world: ServiceWorld) -> bool:
    """True if no valid Proxy token has a lifetime of an hour; a service may have one of an earlier run."""
    tokens = [token for token in world.gateway.proxy_tokens if not token.revoked]
    return all(token.life_s == FIRST_PROXY_TOKENS_S for token in tokens)


def _was_refused_first(world: ServiceWorld, mark: int) -> bool:
    """True if since then a Proxy token was refused before another was requested."""
    calls = world.gateway.journal.since(mark, Endpoint.TOKEN, Endpoint.REDEMPTION)
    first = next((call for call in calls if call.endpoint is Endpoint.TOKEN or call.status == 401), None)
    return first is None or first.endpoint is Endpoint.REDEMPTION


def _works_again(world: ServiceWorld, lost: int | None, which: str, *, short: bool) -> None:
    """Calls work again, within the time that a service needs which uses only a short lifetime."""
    far_ahead = world.service_state.renews_far_ahead
    if lost is None and not short and not far_ahead:
        raise LeftOut(
            "the service keeps its Proxy token for the whole of its hour: start it again, or wait until that"
            " hour is over, and then run once more"
        )
    expect.that(
        lost is not None or far_ahead,
        f"calls in the {FIRST_PROXY_TOKENS_S} s that a Proxy token was to live, after {which} had died",
        expected="calls that work: a new Proxy token for a refusal, or when the stated expires_in is over,"
        " which no fixed time may outlast",
        got="none that works",
    )


def _calls_lost(service: Service, world: ServiceWorld, *, short: bool) -> int | None:
    """How many calls fail after the Proxy token became invalid; None if the service keeps that token.

    A service that uses only the lifetime is waited for if that is `short`.
    """
    gateway = world.gateway
    gateway.revoke_proxy_tokens()
    within_s = FIRST_PROXY_TOKENS_S + SERVICE_BREAKER_S if short else MENDS_WITHIN_S
    lost = _until_it_works(service, world, within_s)
    if lost is None:
        gateway.revive_proxy_tokens()
    return lost


def _until_it_works(service: Service, world: ServiceWorld, within_s: float) -> int | None:
    """How many calls fail before one works; None if none does in time."""
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
