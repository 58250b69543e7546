"""The token alone decides whose orders are shown, whatever else a request names."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.checks.service._named import Named, asked_with
from gateproof.conformance.kit.service.service import Service, holds_orders, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.fakes.gateway.gateway import MERCHANT_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint

_HEADERS = (
    "X-User-Id",
    "X-User",
    "X-Sub",
    "X-Subject",
    "X-Forwarded-User",
    "X-Remote-User",
    "X-On-Behalf-Of",
)
_NAMES = ("user", "user_id", "userId", "sub", "subject", "customer_id", "account")
_ORDER_NAMES = ("id", "order_id", "orderId")
# Subjects of two users that look equal to code that normalizes them before it compares.
ALIKE: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "in-another-case": lambda some: (f"sub_user{some}", f"sub_USER{some.upper()}"),
    "after-a-long-beginning": lambda some: (f"sub_{some * 7}a", f"sub_{some * 7}b"),
    "with-a-zero-ahead": lambda some: (f"sub_{int(some, 16)}", f"sub_0{int(some, 16)}"),
    "with-another-sign": lambda some: (f"sub_{some}-a", f"sub_{some}_a"),
}


@check("BACK-10", cases=ALIKE)
def similar_subjects_are_two_users(
    service: Service, world: ServiceWorld, case: Callable[[str], tuple[str, str]]
) -> None:
    """Two users whose subjects are similar each get their own orders.

    Their merchant tokens state their expiry, so that a service may cache them.
    """
    gateway = world.gateway
    ends = TIMESTAMPS["utc"](time.time() + MERCHANT_TOKEN_S)
    gateway.script.always(Endpoint.REDEMPTION, Answer(members={"expires_at": ends}))
    subjects = dict(zip(USERS, case(secrets.token_hex(8)), strict=True))
    for user in (*USERS, USER):
        answer = service.serve(gateway.access_token(user, sub=subjects[user]))
        other = OTHER if user == USER else USER
        expect.that(
            not shows_orders(answer, world, other),
            f"a call of {subjects[user]}, after one of {subjects[other]}",
            expected="only their own orders",
            got="orders of the other",
            exchange=answer,
        )
        if not service.returns_orders(answer, gateway.orders_of(user)):
            raise LeftOut("the service does not serve a user with such a subject")


@check("BACK-10", cases=("header", "query", "path", "message"))
def another_user_who_is_named_is_not_served(service: Service, world: ServiceWorld, case: str) -> None:
    """With a user's own token, no header, parameter or path that names another user shows that user's orders.

    A service may ignore or refuse names that it does not know.
    """
    subject = str(world.gateway.claims(USER)["sub"])
    names = _HEADERS if case == "header" else _NAMES
    for named, answer in _asked(service, world, case, dict.fromkeys(names, subject)):
        expect.that(
            not shows_orders(answer, world, USER),
            f"{answer.step} with the token of {OTHER}, which names {USER} in {named}",
            expected=f"no orders except those of {OTHER}",
            got=f"{answer.outcome()} with orders of {USER}",
            exchange=answer,
        )


@check("BACK-10", cases=("query", "path", "message"))
def order_that_is_named_is_not_shown_to_another(service: Service, world: ServiceWorld, case: str) -> None:
    """With a user's own token, an order of another user is not found by its ID.

    A service may repeat the requested ID; then it also does so for an order that does not exist.
    """
    order = world.gateway.orders_of(USER)[0]["id"]
    unknown = f"order-{secrets.token_hex(6)}"
    asked = _asked(service, world, case, dict.fromkeys(_ORDER_NAMES, order))
    repeated = _asked(service, world, case, dict.fromkeys(_ORDER_NAMES, unknown))
    for (named, answer), (_, control) in zip(asked, repeated, strict=True):
        found = service.succeeded(answer) and holds_orders(answer, [{"id": order}])
        echoed = service.succeeded(control) and holds_orders(control, [{"id": unknown}])
        expect.that(
            not found or echoed,
            f"{answer.step} with the token of {OTHER}, which names an order of {USER} in {named}",
            expected=f"no orders except those of {OTHER}",
            got=f"{answer.outcome()} with the order of {USER}",
            exchange=answer,
        )


def _asked(service: Service, world: ServiceWorld, where: str, said: Mapping[str, str]) -> list[Named]:
    """The operation by one user with each of these names, after both users were served."""
    gateway = world.gateway
    for user in (OTHER, USER):
        require_served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    token = gateway.access_token(OTHER)
    answers = asked_with(service, token, where, said)
    answered = any(answer.answer is not None for _, answer in answers)
    require.that(answered, "operation that names another user", expected="an answer", got="none")
    return answers
