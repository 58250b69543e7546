"""Which signing keys a service accepts."""

from __future__ import annotations

import time

from gateproof.conformance.kit.service.key_lookups import note_lookup
from gateproof.conformance.kit.service.service import Service, holds_orders, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.suite.time_limits import KEY_FOUND_S, KEY_REFETCH_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.keys import SigningKey, new_key
from gateproof.fakes.gateway.script import Endpoint

# A service that has just fetched the keys may fetch again after a second; the check waits no longer.
ASKS_WITHIN_S = 1.5
# How many tries a token under the second added key gets, once the first added key was found.
MOST_TRIES = 5


@check("SERVE-02", turn=Turn.NEW_KEY)
def added_key_is_picked_up(service: Service, world: ServiceWorld) -> None:
    """Tokens under a key added to the core key set work within a minute; those under the old one too."""
    gateway, user = world.gateway, USERS[0]
    old = gateway.core_key
    require_served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    _is_found(service, world, gateway.add_core_key())

    answer = service.serve(gateway.token_signed_with(old, user))
    expect.that(
        holds_orders(answer, gateway.orders_of(user)),
        "token under the key that stayed in the set",
        expected="the orders",
        got=answer.outcome(),
        exchange=answer,
    )


@check("SERVE-02", turn=Turn.NEW_KEY)
def key_that_signed_before_it_was_added_is_picked_up(service: Service, world: ServiceWorld) -> None:
    """A key that was missing at the first lookup is found after it was added to the core key set.

    The failed lookup was a fetch, so a service that limits its fetches has just started to wait.
    """
    gateway, user = world.gateway, USERS[0]
    require_served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    early = new_key(gateway.algorithm)
    observe(looked_for_an_unknown_key=_is_looked_for(service, world, early))

    _is_found(service, world, gateway.add_core_key(key=early), within_s=KEY_REFETCH_S)


@check("SERVE-02", turn=Turn.NEW_KEY)
def added_key_of_another_algorithm_is_picked_up(service: Service, world: ServiceWorld) -> None:
    """A key that is added together with a key of another algorithm is found as usual.

    A service may accept one algorithm only: then it refuses tokens under the other key.
    """
    gateway, user = world.gateway, USERS[0]
    require_served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    other = gateway.add_core_key("RS256" if gateway.algorithm == "ES256" else "ES256")
    _is_found(service, world, gateway.add_core_key(), other)

    answer, tries = service.serve(gateway.token_signed_with(other, user)), 1
    while not holds_orders(answer, gateway.orders_of(user)) and tries < MOST_TRIES:
        # Another worker process may have the earlier key set.
        time.sleep(min(2.0, 0.25 * 2**tries))
        tries += 1
        answer = service.serve(gateway.token_signed_with(other, user))
    found = holds_orders(answer, gateway.orders_of(user))
    if not found:
        gateway.withdraw_core_key(other)
    if answer.status == 401:
        raise LeftOut(f"the service takes {gateway.algorithm} and not {other.algorithm}")
    expect.that(
        found,
        f"token under a new {other.algorithm} key of the core key set",
        expected="the orders, or the challenge",
        got=answer.outcome(),
        exchange=answer,
    )


@check("SERVE-02")
def keys_are_those_of_the_discovery_document(service: Service, world: ServiceWorld) -> None:
    """The service fetches the key set that the discovery document names, and accepts tokens under it."""
    gateway, user = world.gateway, USERS[0]
    answer = service.serve(gateway.access_token(user))
    asked = gateway.journal.since(0, Endpoint.CORE_KEYS)
    brought = service.returns_orders(answer, gateway.orders_of(user))
    if brought and not asked:
        raise LeftOut("the service has had its keys since before the run")

    expect.that(
        bool(asked),
        "calls of the key set at jwks_uri",
        expected="one at least",
        got="none" + "".join(f", but {target}" for target in _wrong_key_sets(world)),
    )
    require.that(brought, answer.step, expected="the orders", got=answer.outcome(), exchange=answer)


def _is_looked_for(service: Service, world: ServiceWorld, unknown: SigningKey) -> bool:
    """True if tokens under a key in no key set make the service fetch the key set; requires a refusal."""
    gateway, user = world.gateway, USERS[0]
    until, mark = time.monotonic() + ASKS_WITHIN_S, gateway.journal.mark()
    while True:
        answer = service.serve(gateway.token_signed_with(unknown, user))
        require.that(
            not holds_orders(answer, gateway.orders_of(user)),
            "token under a key that is not in the core key set yet",
            expected="a refusal",
            got="the orders",
            exchange=answer,
        )
        asked = bool(gateway.journal.since(mark, Endpoint.CORE_KEYS))
        if asked or time.monotonic() > until:
            return asked
        time.sleep(0.3)


def _is_found(
    service: Service, world: ServiceWorld, *added: SigningKey, within_s: float | None = None
) -> None:
    """Expects that tokens under the first of these new keys work in time; otherwise removes all of them."""
    gateway, user, mark = world.gateway, USERS[0], world.gateway.journal.mark()
    until, tries = time.monotonic() + (within_s or KEY_FOUND_S), 1
    answer = service.serve(gateway.token_signed_with(added[0], user))
    while not holds_orders(answer, gateway.orders_of(user)) and time.monotonic() < until:
        time.sleep(min(2.0, 0.25 * 2**tries))
        tries += 1
        answer = service.serve(gateway.token_signed_with(added[0], user))
    found = holds_orders(answer, gateway.orders_of(user))
    if found:
        note_lookup(world, mark)
    else:
        # The next checks use tokens signed with the earlier key again.
        for key in added:
            gateway.withdraw_core_key(key)
    observe(calls_until_found=tries)
    expect.that(
        found,
        "token under a new key of the core key set",
        expected="the orders, a minute later at most",
        got=answer.outcome(),
        exchange=answer,
    )


def _wrong_key_sets(world: ServiceWorld) -> list[str]:
    """What was fetched instead: the Resource's key set, or URLs that the discovery document does not name."""
    calls = world.gateway.journal.since(0, Endpoint.ELSEWHERE, Endpoint.RESOURCE_KEYS)
    return sorted({call.target for call in calls})
