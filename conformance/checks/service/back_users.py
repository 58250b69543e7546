"""Merchant tokens of different users are not mixed up."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from functools import partial

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.service import Service, holds_orders, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, overlaps, require
from gateproof.conformance.suite.races import Races, together
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import MERCHANT_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint

# Number of concurrent callers, alternating between the users, and of calls by each.
CALLERS, CALLS = 8, 4
# How long redemption and the merchant may delay their answers.
LATE_S = 0.06
# Number of calls that wait together for a Proxy token; its response is delayed until all have arrived.
WAITING = 8
FETCHED_AFTER_S = 0.5


@check("BACK-10", rounds=4)
def two_users_calls_never_mix(service: Service, world: ServiceWorld, races: Races) -> None:
    """Concurrent calls of two users each show their own orders, and never the other's."""
    gateway = world.gateway
    for user in USERS:
        answer = service.serve(gateway.access_token(user))
        _is_their_own(world, answer, user, "one user after the other")
        require_served(answer, gateway.orders_of(user))
    for choice in races.each():
        # Delayed answers overlap with others, in a different order.
        for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API):
            late = [Answer(delay_s=choice.uniform(0, LATE_S)) for _ in range(CALLERS * CALLS)]
            gateway.script.tape(endpoint, late)
        _called_in_waves(service, world)


@check("BACK-10", rounds=4)
def calls_that_wait_for_a_proxy_token_never_mix(service: Service, world: ServiceWorld, races: Races) -> None:
    """Two users whose calls wait for one Proxy token never get each other's orders.

    Their calls may fail. A service that renews Proxy tokens by lifetime only requests no other here; then
    only its first calls in this run can be judged.
    """
    expect.that(
        not world.service_state.mixed_first_calls,
        "first calls of two users at the same time, which waited for the first Proxy token",
        expected="only their own orders",
        got="orders of the other",
    )
    for number, _ in enumerate(races.each()):
        asked = _waited_for_a_proxy_token(service, world)
        if not asked and not number:
            raise LeftOut("the service requests no other Proxy token before the old one expires")
        if not asked and not any(overlaps()):
            raise LeftOut("the service has just requested another Proxy token, and requests none so soon")
        if not asked:
            break


@check("BACK-10")
def tokens_without_an_identifier_bring_each_user_their_own(service: Service, world: ServiceWorld) -> None:
    """Two users whose tokens have no `jti` each get their own orders.

    Their merchant tokens state their expiry, so that a service may cache them.
    """
    gateway = world.gateway
    ends = TIMESTAMPS["utc"](time.time() + MERCHANT_TOKEN_S)
    gateway.script.always(Endpoint.REDEMPTION, Answer(members={"expires_at": ends}))
    for user in USERS:
        answer = service.serve(world.unseen_token(user, jti=None))
        _is_their_own(world, answer, user, "one user after the other, with tokens without jti")
        if not service.returns_orders(answer, gateway.orders_of(user)):
            raise LeftOut(
                "the service accepts no token without jti, which the specification does not require"
            )


@check("BACK-10")
def cookie_of_the_merchant_is_recorded(service: Service, world: ServiceWorld) -> None:
    """Calls of two users each show their own orders if the merchant API sets a cookie for each of them.

    The check records whether the service sends one user's cookie in another user's call: the specification
    names no cookies.
    """
    gateway, cookies = world.gateway, {user: secrets.token_hex(12) for user in USERS}
    carried = False
    for user in (*USERS, USER):
        mark = gateway.journal.mark()
        named = {"set-cookie": f"session={cookies[user]}; Path=/"}
        gateway.script.always(Endpoint.MERCHANT_API, Answer(headers=named))
        answer = service.serve(world.unseen_token(user))
        _is_their_own(world, answer, user, "one user after the other")
        require_served(answer, gateway.orders_of(user))
        calls = gateway.journal.since(mark, Endpoint.MERCHANT_API)
        other = cookies[_the_other_user(user)]
        carried = carried or any(other in (call.header("cookie") or "") for call in calls)

    observe(merchants_cookie_of_another_user=carried)


def _called_in_waves(service: Service, world: ServiceWorld) -> None:
    """Calls concurrently and then again, so that new calls overlap with late answers.

    Each token is new to the service, so a cached merchant token of one user is not used again.
    """
    gateway = world.gateway
    users = [USERS[number % len(USERS)] for number in range(CALLERS)]
    tokens = [[world.unseen_token(user) for _ in range(CALLS)] for user in users]
    answered = together([partial(_called_in_a_row, service, own) for own in tokens])
    answers = [answer for own in answered for answer in own]
    called_by = [user for user in users for _ in range(CALLS)]

    what = f"{len(answers)} calls of two users at the same time"
    _never_mixed(world, called_by, answers, what)
    own = sum(
        holds_orders(answer, gateway.orders_of(user)) for user, answer in zip(called_by, answers, strict=True)
    )
    require.that(
        own > len(answers) // 2,
        what,
        expected="most of them served, or nothing can get mixed up",
        got=f"{own}",
    )


def _called_in_a_row(service: Service, tokens: Sequence[str]) -> list[Exchange]:
    return [service.serve(token) for token in tokens]


def _waited_for_a_proxy_token(service: Service, world: ServiceWorld) -> bool:
    """Calls of both users while the Proxy token is invalid; True if the service requested another one."""
    gateway = world.gateway
    users = [user for _ in range(WAITING // len(USERS)) for user in USERS]
    mark = gateway.journal.mark()
    gateway.revoke_proxy_tokens()
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=FETCHED_AFTER_S))
    answers = together([partial(service.serve_once, world.unseen_token(user)) for user in users])
    gateway.script.clear()

    _never_mixed(world, users, answers, f"{WAITING} calls of two users who waited for a Proxy token together")
    if not gateway.journal.since(mark, Endpoint.TOKEN):
        gateway.revive_proxy_tokens()
        return False
    own = [
        service.returns_orders(each, gateway.orders_of(user))
        for user, each in zip(users, answers, strict=True)
    ]
    if not any(own):
        raise LeftOut("none of the calls that waited for another Proxy token was served")
    return True


def _is_their_own(world: ServiceWorld, answer: Exchange, user: str, when: str) -> None:
    expect.that(
        not shows_orders(answer, world, _the_other_user(user)),
        f"a call of {user}, {when}",
        expected="only their own orders",
        got="orders of the other",
        exchange=answer,
    )


def _never_mixed(world: ServiceWorld, users: Sequence[str], answers: Sequence[Exchange], what: str) -> None:
    mixed = sum(
        shows_orders(answer, world, _the_other_user(user))
        for user, answer in zip(users, answers, strict=True)
    )
    expect.that(
        not mixed,
        what,
        expected="only their own orders",
        got=f"{mixed} with the other's",
    )


def _the_other_user(user: str) -> str:
    return OTHER if user == USER else USER
