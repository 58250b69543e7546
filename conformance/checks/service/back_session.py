"""A session does not decide whose call it is: the token does."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.cookies import CookieKeeper
from gateproof.conformance.kit.service.mcp_session import is_a_stream, session_of
from gateproof.conformance.kit.service.service import Service, served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange


@check("BACK-10")
def session_of_one_user_brings_nothing_to_another(service: Service, world: ServiceWorld) -> None:
    """A call with another user's token in a user's session never shows the first user's orders."""
    gateway = world.gateway
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session = session_of(service, token)
    served(session.call(token), gateway.orders_of(USER))

    _no_orders_of_the_first_user(session.call(another), world, f"a call of {OTHER} in a session of {USER}")


@check("BACK-10")
def stream_of_one_user_says_nothing_of_another(service: Service, world: ServiceWorld) -> None:
    """A user's event stream contains no orders of another user who calls meanwhile."""
    gateway, said = world.gateway, list[Exchange]()
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session, others = session_of(service, token), session_of(service, another)
    served(session.call(token), gateway.orders_of(USER))
    heard = others.listen_while(another, lambda: said.append(session.call(token)))
    if not is_a_stream(heard):
        raise LeftOut("the server has no stream to listen to")
    for answer in said:
        served(answer, gateway.orders_of(USER))

    _no_orders_of_the_first_user(heard, world, f"{OTHER}'s event stream while {USER} calls")


@check("BACK-10")
def cookie_of_one_user_brings_nothing_to_another(service: Service, world: ServiceWorld) -> None:
    """A call with another user's token and a user's cookies never shows the first user's orders."""
    gateway = world.gateway
    keeper = CookieKeeper(service=service)
    served(keeper.serve(gateway.access_token(USER)), gateway.orders_of(USER))
    if not keeper.has_cookies():
        raise LeftOut("the service sets no cookies")

    answer = keeper.serve(gateway.access_token(OTHER))
    _no_orders_of_the_first_user(answer, world, f"a call of {OTHER} with the cookies of {USER}")


def _no_orders_of_the_first_user(answer: Exchange, world: ServiceWorld, what: str) -> None:
    expect.that(
        not shows_orders(answer, world, USER),
        what,
        expected=f"no orders except those of {OTHER}",
        got=f"orders of {USER}",
        exchange=answer,
    )
