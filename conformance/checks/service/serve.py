"""Calls with a good token."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.kit.service.service import Service, holds_orders, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Headers
from gateproof.fakes.gateway.gateway import MERCHANT_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint

ENDS = TIMESTAMPS["utc"]
# Members that redemption may leave out, but that a careless client requires.
ABSENT: dict[str, Callable[[], Mapping[str, Any]]] = {
    "expires_at": lambda: {"expires_at": None, "scopes": ["orders"]},
    "scopes": lambda: {"expires_at": ENDS(time.time() + MERCHANT_TOKEN_S), "scopes": None},
    "both": lambda: {"expires_at": None, "scopes": None},
}


@check("SERVE-01", cases=USERS)
def good_token_brings_the_users_orders(service: Service, world: ServiceWorld, case: str) -> None:
    """With a good token the operation succeeds and shows the user's orders from the merchant API."""
    _brings_orders_each_time(service, world, world.gateway.access_token(case), case)


# What the gateway may state about an agent; the specification leaves the inner structure open.
AGENTS: dict[str, dict[str, Any]] = {
    "name-in-another-script": {"name": "\N{CYRILLIC CAPITAL LETTER A}гент \N{ROBOT FACE}"},
    "many-verifications": {"verifications": [{"kind": "domain", "number": number} for number in range(60)]},
}


@check("SERVE-01", cases=AGENTS)
def good_token_of_any_agent_is_served(service: Service, world: ServiceWorld, case: Mapping[str, Any]) -> None:
    """A good token is accepted whatever the name of the agent is, and with any number of verifications."""
    gateway, user = world.gateway, USERS[0]
    ext = gateway.claims(user)["ext"]
    token = gateway.access_token(user, ext={**ext, "agent": {**ext["agent"], **case}})

    _brings_orders_each_time(service, world, token, user)


FORMS: dict[str, Callable[[str], dict[str, Any]]] = {
    "unknown-claims": lambda _: {"x-new": {"deep": [1, 2]}, "act": {"sub": "agent_1"}},
    "two-audiences": lambda own: {"aud": ["https://other.example", own]},
    "two-audiences-its-own-first": lambda own: {"aud": [own, "https://other.example"]},
    "three-audiences": lambda own: {"aud": ["https://other.example", own, "https://more.example"]},
    "not-long-to-live": lambda _: {"exp": int(time.time()) + 30},
    "long-to-live": lambda _: {"exp": int(time.time()) + 12 * 3600},
}
# How a second caller with the same token differs from the first.
CALLERS: dict[str, Headers] = {
    "over-another-connection": (),
    "another-program": (("User-Agent", "another-agent/2.0 (rv:7)"),),
    "another-language": (("Accept-Language", "fi, en;q=0.5"),),
    "another-address": (("X-Forwarded-For", "203.0.113.7"),),
}


@check("SERVE-01", cases=FORMS)
def good_token_in_another_form_is_served(
    service: Service, world: ServiceWorld, case: Callable[[str], dict[str, Any]]
) -> None:
    """A good token with unknown claims, additional audiences or an unusual expiry is accepted."""
    gateway, user = world.gateway, USERS[0]
    answer = service.serve(gateway.access_token(user, **case(gateway.setup.indicator)))

    expect.that(
        service.returns_orders(answer, gateway.orders_of(user)),
        answer.step,
        expected="success with the orders",
        got=answer.outcome(),
        exchange=answer,
    )


@check("SERVE-01", cases=CALLERS)
def good_token_is_served_to_another_caller(service: Service, world: ServiceWorld, case: Headers) -> None:
    """A good token is accepted again from another connection, program, language or address.

    If the service refuses such a caller with any token, the check shows nothing.
    """
    orders, user = world.gateway.orders_of(USERS[0]), USERS[0]
    if not service.returns_orders(service.serve(world.gateway.access_token(user), case), orders):
        raise LeftOut("the service does not serve such a caller with a token of its own either")
    token = world.gateway.access_token(user)
    require_served(service.serve(token), orders)
    service.wire.close_connections()
    answer = service.serve(token, case)

    expect.that(
        service.returns_orders(answer, orders),
        f"{answer.step} with the token that another caller used before",
        expected="success with the orders",
        got=answer.outcome(),
        exchange=answer,
    )


@check("SERVE-01", cases=TIMESTAMPS)
def redemption_with_any_timestamp_is_served(
    service: Service, world: ServiceWorld, case: Callable[[float], str]
) -> None:
    """A redemption is used whatever RFC 3339 form its `expires_at` has."""
    ends = case(time.time() + MERCHANT_TOKEN_S)
    said = Answer(members={"expires_at": ends})

    _brings_orders_redeemed(service, world, said, f"for an expires_at of {ends}")


@check("SERVE-01", cases=ABSENT)
def redemption_that_says_no_more_is_served(
    service: Service, world: ServiceWorld, case: Callable[[], Mapping[str, Any]]
) -> None:
    """A redemption without `expires_at`, without `scopes`, or without both is used."""
    members = case()
    said = Answer(members=members)
    absent = " and without ".join(name for name, value in members.items() if value is None)

    _brings_orders_redeemed(service, world, said, f"for a redemption without {absent}")


def _brings_orders_redeemed(service: Service, world: ServiceWorld, said: Answer, when: str) -> None:
    """Expects that a new user gets the orders through such a redemption, also a second time."""
    world.gateway.script.tape(Endpoint.REDEMPTION, [said])

    _brings_orders_each_time(service, world, world.unseen_token(USERS[0]), USERS[0], when)


def _brings_orders_each_time(
    service: Service, world: ServiceWorld, token: str, user: str, when: str = ""
) -> None:
    """Expects that the operation succeeds with the user's orders, and again with the same token.

    The second call uses what the service has cached.
    """
    orders = world.gateway.orders_of(user)
    for again in ("", " with the same token as before"):
        answer = service.serve(token)
        wanted = f", {when}" if when else ""
        expect.that(
            service.succeeded(answer),
            f"{answer.step}{again}",
            expected=f"success{wanted}",
            got=answer.outcome(),
            exchange=answer,
        )
        expect.that(
            holds_orders(answer, orders),
            f"{answer.step}{again}",
            expected=f"the orders of {user}{wanted}",
            got="an answer without them",
            exchange=answer,
        )
