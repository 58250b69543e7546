"""Whose merchant token is whose, and until when."""

from __future__ import annotations

import time
from collections.abc import Callable

from conformance.check import check
from conformance.checks.service._expiring import TIMESTAMPS
from conformance.checks.service._trouble import OTHER, USER, shows_orders, works
from conformance.claims import expect, require
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, holds_orders, served
from fakes.gateway.script import Answer, Endpoint


@check("BACK-10")
def two_users_calls_never_mix(service: Service, world: ServiceWorld) -> None:
    """Calls of two users at the same time each bring their own orders, and never the other's."""
    gateway = world.gateway
    for user in USERS:
        answer = service.serve(gateway.access_token(user))
        expect.that(
            not shows_orders(answer, world, OTHER if user == USER else USER),
            f"a call of {user}, one user after the other",
            expected="nobody's but their own orders",
            got="orders of the other",
            exchange=answer,
        )
        served(answer, gateway.orders_of(user))
    # Answers that come late meet each other.
    gateway.script.always(Endpoint.REDEMPTION, Answer(delay_s=0.03))
    gateway.script.always(Endpoint.MERCHANT_API, Answer(delay_s=0.03))
    users = [user for _ in range(16) for user in USERS]
    # Nobody has redeemed these before: a merchant token that is kept for a user meets no other.
    answers = service.serve_all([world.unseen_token(user) for user in users], at_once=8)
    gateway.script.clear()
    mixed = [
        user
        for user, answer in zip(users, answers, strict=True)
        if shows_orders(answer, world, OTHER if user == USER else USER)
    ]
    own = sum(
        holds_orders(answer, gateway.orders_of(user)) for user, answer in zip(users, answers, strict=True)
    )

    expect.that(
        not mixed,
        f"{len(users)} calls of two users at the same time",
        expected="nobody's but their own orders",
        got=f"{len(mixed)} with the other's",
    )
    require.that(
        own > len(users) // 2,
        f"{len(users)} calls of two users at the same time",
        expected="most of them served, or nothing can get mixed up",
        got=f"{own}",
    )


@check("BACK-11")
def merchant_token_is_not_used_past_its_expiry(service: Service, world: ServiceWorld) -> None:
    """Past the `expires_at` of the redemption, its merchant token is not shown to the merchant any more.

    A timestamp that is written in another time zone, or more finely, is no later.
    """
    gateway = world.gateway
    works(service, world)
    redeemed = {form: _redeemed(service, world, said) for form, said in TIMESTAMPS.items()}
    # Second thoughts about clocks: a whole second is cut off in a timestamp, and one is granted here.
    time.sleep(max(0.0, max(expires for _, _, expires in redeemed.values()) + 1 - time.time()))
    for form, (token, old, _) in redeemed.items():
        mark = gateway.journal.mark()
        service.serve(token)
        calls = gateway.journal.since(mark, Endpoint.MERCHANT_API)
        shown = [call.header("authorization") or "" for call in calls]

        expect.that(
            not any(value.endswith(each) for value in shown for each in old),
            f"call of the merchant API past expires_at, {form}",
            expected="another merchant token, or no call",
            got="the one that has expired",
        )


def _redeemed(
    service: Service, world: ServiceWorld, said: Callable[[float], str]
) -> tuple[str, set[str], float]:
    """A token that was served by a merchant token that soon expires, that one, and when it does."""
    gateway, expires = world.gateway, time.time() + 2
    gateway.script.tape(Endpoint.REDEMPTION, [Answer(members={"expires_at": said(expires)})])
    token, before = world.unseen_token(USER), set(gateway.merchant_tokens)
    served(service.serve(token), gateway.orders_of(USER))
    old = set(gateway.merchant_tokens) - before
    require.that(bool(old), "operation of a user who is new", expected="a redemption", got="none")
    return token, old, expires
