"""Whose merchant token is whose."""

from __future__ import annotations

import time
from collections.abc import Sequence

from conformance.check import check
from conformance.checks.service._expiring import TIMESTAMPS
from conformance.checks.service._trouble import OTHER, USER, shows_orders
from conformance.claims import LeftOut, expect, require
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, holds_orders, served
from conformance.wire.exchange import Exchange
from fakes.gateway.gateway import MERCHANT_TOKEN_S
from fakes.gateway.script import Answer, Endpoint

# So many calls wait together for a Proxy token, which takes longer than it takes all of them to come.
WAITING = 8
FETCHED_AFTER_S = 0.5


@check("BACK-10")
def two_users_calls_never_mix(service: Service, world: ServiceWorld) -> None:
    """Calls of two users at the same time each bring their own orders, and never the other's."""
    gateway = world.gateway
    for user in USERS:
        answer = service.serve(gateway.access_token(user))
        _is_their_own(world, answer, user, "one user after the other")
        served(answer, gateway.orders_of(user))
    # Answers that come late meet each other.
    gateway.script.always(Endpoint.REDEMPTION, Answer(delay_s=0.03))
    gateway.script.always(Endpoint.MERCHANT_API, Answer(delay_s=0.03))
    users = [user for _ in range(16) for user in USERS]
    # Nobody has redeemed these before: a merchant token that is kept for a user meets no other.
    answers = service.serve_all([world.unseen_token(user) for user in users], at_once=8)
    gateway.script.clear()
    own = sum(
        holds_orders(answer, gateway.orders_of(user)) for user, answer in zip(users, answers, strict=True)
    )

    _never_mixed(world, users, answers, f"{len(users)} calls of two users at the same time")
    require.that(
        own > len(users) // 2,
        f"{len(users)} calls of two users at the same time",
        expected="most of them served, or nothing can get mixed up",
        got=f"{own}",
    )


@check("BACK-10")
def calls_that_wait_for_a_proxy_token_never_mix(service: Service, world: ServiceWorld) -> None:
    """Two users whose calls wait together for another Proxy token are shown nothing of each other's orders.

    Their calls may fail over it. Who goes by the lifetime of a Proxy token alone asks for no other here: of
    such a service, what the first calls of the run were shown is all that is known.
    """
    gateway = world.gateway
    expect.that(
        not world.standing.mixed_first_calls,
        "first calls of two users at the same time, which waited for the first Proxy token",
        expected="nobody's but their own orders",
        got="orders of the other",
    )
    users = [user for _ in range(WAITING // len(USERS)) for user in USERS]
    mark = gateway.journal.mark()
    gateway.revoke_proxy_tokens()
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=FETCHED_AFTER_S))
    answers = service.serve_all_once([world.unseen_token(user) for user in users], at_once=WAITING)
    gateway.script.clear()

    _never_mixed(world, users, answers, f"{WAITING} calls of two users who waited for a Proxy token together")
    if not gateway.journal.since(mark, Endpoint.TOKEN):
        gateway.revive_proxy_tokens()
        raise LeftOut("the service asks for no other Proxy token before the time of the old one is over")
    own = [service.brings(each, gateway.orders_of(user)) for user, each in zip(users, answers, strict=True)]
    if not any(own):
        raise LeftOut("none of the calls that waited for another Proxy token was served")


@check("BACK-10")
def tokens_without_an_identifier_bring_each_user_their_own(service: Service, world: ServiceWorld) -> None:
    """A gateway access token need have no `jti`: two users' tokens without one are not taken for the same.

    Their merchant tokens say when they expire: who keeps them until then may do so.
    """
    gateway = world.gateway
    ends = TIMESTAMPS["utc"](time.time() + MERCHANT_TOKEN_S)
    gateway.script.always(Endpoint.REDEMPTION, Answer(members={"expires_at": ends}))
    for user in USERS:
        answer = service.serve(world.unseen_token(user, jti=None))
        _is_their_own(world, answer, user, "one user after the other, with tokens without jti")
        if not service.brings(answer, gateway.orders_of(user)):
            raise LeftOut("the service takes no token that has no jti, which the specification does not name")


def _is_their_own(world: ServiceWorld, answer: Exchange, user: str, when: str) -> None:
    expect.that(
        not shows_orders(answer, world, _other_than(user)),
        f"a call of {user}, {when}",
        expected="nobody's but their own orders",
        got="orders of the other",
        exchange=answer,
    )


def _never_mixed(world: ServiceWorld, users: Sequence[str], answers: Sequence[Exchange], what: str) -> None:
    mixed = sum(
        shows_orders(answer, world, _other_than(user)) for user, answer in zip(users, answers, strict=True)
    )
    expect.that(
        not mixed,
        what,
        expected="nobody's but their own orders",
        got=f"{mixed} with the other's",
    )


def _other_than(user: str) -> str:
    return OTHER if user == USER else USER
