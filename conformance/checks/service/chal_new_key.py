"""Tokens with wrong claims under a key that the service does not know yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.checks.service._failing_parties import shows_orders
from gateproof.conformance.kit.service.key_lookups import note_lookup
from gateproof.conformance.kit.service.service import Service, holds_orders
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_REFETCH_S, SERVICE_LEEWAY_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.keys import SigningKey
from gateproof.fakes.gateway.script import Endpoint

# If the service fetched the keys only for the good token, the check tries again, with this many keys in
# total. The first two measure how long the service needs to find one; for the next, only the wrong token is
# sent for that time.
MOST_KEYS = 3


@check("CHAL-05", turn=Turn.NEW_KEY)
def token_of_another_issuer_under_a_new_key_shows_nothing(service: Service, world: ServiceWorld) -> None:
    """A token of another issuer under a new core key shows no orders, before and after the key is found."""
    _shows_nothing(service, world, lambda: {"iss": "https://evil.example"})


@check("CHAL-06", turn=Turn.NEW_KEY)
def token_for_another_audience_under_a_new_key_shows_nothing(service: Service, world: ServiceWorld) -> None:
    """A token for another audience under a new core key shows no orders, before and after it is found."""
    _shows_nothing(service, world, lambda: {"aud": ["https://api.other.example/v1"]})


@check("CHAL-07", turn=Turn.NEW_KEY)
def expired_token_under_a_new_key_shows_nothing(service: Service, world: ServiceWorld) -> None:
    """An expired token under a new core key shows no orders, before and after the key is found."""
    _shows_nothing(service, world, lambda: {"exp": int(time.time()) - 2 * SERVICE_LEEWAY_S})


def _shows_nothing(service: Service, world: ServiceWorld, wrong: Callable[[], dict[str, Any]]) -> None:
    """Expects that a wrong token under a key just added shows no orders; a good one under it does.

    The wrong token is sent first each time, and again after the key was found. Redemption accepts both.
    """
    if world.service_state.finds_no_keys:
        raise LeftOut("the service has found no new key before in the time that it is given")
    good_token(service, world)
    longest = 0.0
    for _ in range(MOST_KEYS):
        begun = time.monotonic()
        if _searched_for_the_wrong_token(service, world, wrong, alone_s=1.5 * longest):
            return
        longest = max(longest, time.monotonic() - begun)


def _searched_for_the_wrong_token(
    service: Service, world: ServiceWorld, wrong: Callable[[], dict[str, Any]], *, alone_s: float
) -> bool:
    """True if the wrong token made the service fetch the keys; False if the good one did.

    A service that limits how often it fetches may do so for the good token only. For `alone_s` seconds the
    good token is sent only if the keys were fetched for the wrong one.
    """
    gateway = world.gateway
    before = gateway.journal.mark()
    added = gateway.add_core_key()
    try:
        begun, pause = time.monotonic(), 0.25
        while True:
            mark = gateway.journal.mark()
            _brings_nothing(service, world, gateway.token_signed_with(added, USER, **wrong()))
            searched = bool(gateway.journal.since(mark, Endpoint.CORE_KEYS))
            spent = time.monotonic() - begun
            if (searched or spent >= alone_s) and _found(service, world, added):
                note_lookup(world, before)
                break
            if spent > KEY_REFETCH_S:
                world.service_state.finds_no_keys = True
                raise LeftOut("the service finds no new key in the time that it is given")
            wait_for(Cause.KEYS, pause)
            pause = min(2.0, 1.5 * pause)
        _brings_nothing(service, world, gateway.token_signed_with(added, USER, **wrong()))
        return searched
    finally:
        # The next checks use tokens signed with the earlier key again.
        gateway.withdraw_core_key(added)


def _found(service: Service, world: ServiceWorld, added: SigningKey) -> bool:
    """True if a good token under the key is served by now."""
    gateway = world.gateway
    answer = service.serve_once(gateway.token_signed_with(added, USER))
    return holds_orders(answer, gateway.orders_of(USER))


def _brings_nothing(service: Service, world: ServiceWorld, token: str) -> None:
    answer = service.serve_once(token)
    expect.that(
        not shows_orders(answer, world, USER),
        "wrong token under a key that was just added to the core key set",
        expected="no orders",
        got=f"{answer.outcome()} with orders",
        exchange=answer,
    )
