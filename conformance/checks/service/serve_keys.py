"""Which signing keys a service accepts."""

from __future__ import annotations

import time

from gateproof.conformance.kit.service.key_lookups import note_lookup
from gateproof.conformance.kit.service.new_keys import NewKeys
from gateproof.conformance.kit.service.service import Service, holds_orders, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_FOUND_S, KEY_REFETCH_S
from gateproof.conformance.suite.turn import Turn
from gateproof.conformance.wire.exchange import Exchange
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
    require_served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    together = _found_together(service, world)
    if together is not None and _works_already(service, world, together.plain):
        old = together.old
        observe(calls_until_found=together.calls_until_found)
    else:
        old = gateway.core_key
        _is_found(service, world, gateway.add_core_key(), within_s=_limit_s(world))

    # Another worker process may have the earlier key set, without a key that was added only seconds ago.
    stayed, _, answer = _searched_for(service, world, old, KEY_FOUND_S)
    expect.that(
        stayed,
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
    together = _found_together(service, world)
    if together is not None and _works_already(service, world, together.early):
        observe(looked_for_an_unknown_key=together.looked_for, calls_until_found=together.calls_until_found)
        return
    early = new_key(gateway.algorithm)
    asked, answer = _is_looked_for(service, world, early)
    require.that(
        not holds_orders(answer, gateway.orders_of(user)),
        "token under a key that is not in the core key set yet",
        expected="a refusal",
        got="the orders",
        exchange=answer,
    )
    observe(looked_for_an_unknown_key=asked)

    _is_found(service, world, gateway.add_core_key(key=early), within_s=KEY_REFETCH_S)


@check("SERVE-02", turn=Turn.NEW_KEY)
def added_key_of_another_algorithm_is_picked_up(service: Service, world: ServiceWorld) -> None:
    """A key that is added together with a key of another algorithm is found as usual.

    A service may accept one algorithm only: then it refuses tokens under the other key.
    """
    gateway, user = world.gateway, USERS[0]
    require_served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    together = _found_together(service, world)
    if together is not None and _works_already(service, world, together.plain):
        other = together.other
        observe(calls_until_found=together.calls_until_found)
    else:
        other = _add_one_of_another_algorithm(world)
        _is_found(service, world, gateway.add_core_key(), other, within_s=_limit_s(world))

    answer, tries = service.serve(gateway.token_signed_with(other, user)), 1
    while not holds_orders(answer, gateway.orders_of(user)) and tries < MOST_TRIES:
        # Another worker process may have the earlier key set.
        wait_for(Cause.KEYS, min(2.0, 0.25 * 2**tries))
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


def _found_together(service: Service, world: ServiceWorld) -> NewKeys | None:
    """The keys of all three checks, added at once; None if the service does not find them.

    A service may fetch the key set twice a minute at most, so one wait serves three checks, if other checks
    have seen the lookups that are missing then: a service may stop looking after a few. Without these keys,
    or if one of them does not work, each check adds its own: then it is clear which of them fails.
    """
    state = world.service_state
    if not state.new_keys_tried:
        state.new_keys_tried = True
        state.new_keys = _added_together(service, world)
    state.lookups_needed += 1
    return state.new_keys if state.lookups >= state.lookups_needed else None


def _added_together(service: Service, world: ServiceWorld) -> NewKeys | None:
    gateway, user = world.gateway, USERS[0]
    old, early = gateway.core_key, new_key(gateway.algorithm)
    looked_for, answer = _is_looked_for(service, world, early)
    if holds_orders(answer, gateway.orders_of(user)):
        return None
    gateway.add_core_key(key=early)
    other, plain = _add_one_of_another_algorithm(world), gateway.add_core_key()
    found, tries, _ = _searched_for(service, world, plain, KEY_FOUND_S)
    if not found:
        for key in (early, other, plain):
            gateway.withdraw_core_key(key)
        return None
    gateway.sign_with(old)
    return NewKeys(
        old=old, early=early, other=other, plain=plain, looked_for=looked_for, calls_until_found=tries
    )


def _limit_s(world: ServiceWorld) -> float:
    """How long a key may take to be found; longer if the service has fetched the keys just before."""
    return KEY_REFETCH_S if world.service_state.lookups else KEY_FOUND_S


def _add_one_of_another_algorithm(world: ServiceWorld) -> SigningKey:
    return world.gateway.add_core_key("RS256" if world.gateway.algorithm == "ES256" else "ES256")


def _works_already(service: Service, world: ServiceWorld, key: SigningKey) -> bool:
    """True, as a claim, if a token under this key works; otherwise the check adds a key of its own."""
    answer = service.serve(world.gateway.token_signed_with(key, USERS[0]))
    if not holds_orders(answer, world.gateway.orders_of(USERS[0])):
        return False
    _expect_found(answer, found=True)
    return True


def _is_looked_for(service: Service, world: ServiceWorld, unknown: SigningKey) -> tuple[bool, Exchange]:
    """True if tokens under a key in no key set make the service fetch the key set; and the last answer."""
    gateway, user = world.gateway, USERS[0]
    until, mark = time.monotonic() + ASKS_WITHIN_S, gateway.journal.mark()
    while True:
        answer = service.serve(gateway.token_signed_with(unknown, user))
        asked = bool(gateway.journal.since(mark, Endpoint.CORE_KEYS))
        if asked or time.monotonic() > until or holds_orders(answer, gateway.orders_of(user)):
            return asked, answer
        wait_for(Cause.KEYS, 0.3)


def _searched_for(
    service: Service, world: ServiceWorld, key: SigningKey, within_s: float
) -> tuple[bool, int, Exchange]:
    """Calls with tokens under this new key until one works; whether one did, how many calls, the last one."""
    gateway, user, mark = world.gateway, USERS[0], world.gateway.journal.mark()
    until, tries = time.monotonic() + within_s, 1
    answer = service.serve(gateway.token_signed_with(key, user))
    while not holds_orders(answer, gateway.orders_of(user)) and time.monotonic() < until:
        wait_for(Cause.KEYS, min(2.0, 0.25 * 2**tries))
        tries += 1
        answer = service.serve(gateway.token_signed_with(key, user))
    found = holds_orders(answer, gateway.orders_of(user))
    if found:
        note_lookup(world, mark)
    return found, tries, answer


def _is_found(service: Service, world: ServiceWorld, *added: SigningKey, within_s: float) -> None:
    """Expects that tokens under the first of these new keys work in time; otherwise removes all of them."""
    gateway = world.gateway
    earlier = next(key for key in reversed(gateway.core_keys) if key not in added)
    found, tries, answer = _searched_for(service, world, added[0], within_s)
    # The next checks use tokens signed with the earlier key again: other processes may not know the new ones.
    if found:
        gateway.sign_with(earlier)
    else:
        for key in added:
            gateway.withdraw_core_key(key)
    observe(calls_until_found=tries)
    _expect_found(answer, found=found)


def _expect_found(answer: Exchange, *, found: bool) -> None:
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
