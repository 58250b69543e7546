"""The token, and not the session, decides for which user a call is."""

from __future__ import annotations

import re

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.cookies import CookieKeeper
from gateproof.conformance.kit.service.mcp_session import is_a_stream, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange

IN_THE_SAME = "in-the-same-session"
SESSIONS = ("in-their-own-session", IN_THE_SAME)
_EVENT_ID = re.compile(r"^id: ?([!-~]+)\r?$", re.MULTILINE)
_COUNTED_FROM = ("0", "1")


@check("BACK-10")
def session_of_one_user_brings_nothing_to_another(service: Service, world: ServiceWorld) -> None:
    """A call with another user's token in a user's session never shows the first user's orders."""
    gateway = world.gateway
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USER))

    _no_orders_of_the_first_user(session.call(another), world, f"a call of {OTHER} in a session of {USER}")


@check("BACK-10", cases=SESSIONS)
def stream_of_one_user_says_nothing_of_another(service: Service, world: ServiceWorld, case: str) -> None:
    """A user's event stream contains no orders of another user who calls meanwhile."""
    gateway, said = world.gateway, list[Exchange]()
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session = session_of(service, token)
    others = session if case == IN_THE_SAME else session_of(service, another)
    require_served(session.call(token), gateway.orders_of(USER))
    heard = others.listen_while(another, lambda: said.append(session.call(token)))
    if not is_a_stream(heard):
        raise LeftOut("the server has no stream to listen to")
    for answer in said:
        require_served(answer, gateway.orders_of(USER))

    _no_orders_of_the_first_user(heard, world, f"{OTHER}'s event stream while {USER} calls")


@check("BACK-10", cases=SESSIONS)
def resumed_stream_brings_nothing_of_another(service: Service, world: ServiceWorld, case: str) -> None:
    """A user who resumes a stream by the ID of an event gets no orders of another user.

    The IDs are those of the other user's events, and common first IDs of servers.
    """
    gateway, a_stream = world.gateway, False
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session = session_of(service, token)
    shown = require_served(session.call(token), gateway.orders_of(USER))
    others = session if case == IN_THE_SAME else session_of(service, another)
    for event in (*_events_of(shown), *_COUNTED_FROM):
        heard = others.resumed_at(event).listen_while(another, lambda: None)
        a_stream = a_stream or is_a_stream(heard)
        _no_orders_of_the_first_user(heard, world, f"a stream that {OTHER} resumes")

    if not a_stream:
        raise LeftOut("the server resumes no stream of this user")


@check("BACK-10")
def cookie_of_one_user_brings_nothing_to_another(service: Service, world: ServiceWorld) -> None:
    """A call with another user's token and a user's cookies never shows the first user's orders."""
    gateway = world.gateway
    keeper = CookieKeeper(service=service)
    require_served(keeper.serve(gateway.access_token(USER)), gateway.orders_of(USER))
    if not keeper.has_cookies():
        raise LeftOut("the service sets no cookies")

    answer = keeper.serve(gateway.access_token(OTHER))
    _no_orders_of_the_first_user(answer, world, f"a call of {OTHER} with the cookies of {USER}")


def _events_of(answer: Exchange) -> list[str]:
    """The IDs of the last two events of this answer."""
    text = answer.answer.text() if answer.answer is not None else ""
    return [each.strip() for each in _EVENT_ID.findall(text)][-2:]


def _no_orders_of_the_first_user(answer: Exchange, world: ServiceWorld, what: str) -> None:
    expect.that(
        not shows_orders(answer, world, USER),
        what,
        expected=f"no orders except those of {OTHER}",
        got=f"orders of {USER}",
        exchange=answer,
    )
