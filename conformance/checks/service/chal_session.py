"""A session is no token: who may call is decided anew for every call."""

from __future__ import annotations

from gateproof.conformance.checks.service._altered_tokens import USER
from gateproof.conformance.kit.service.cookies import CookieKeeper
from gateproof.conformance.kit.service.mcp_session import is_a_stream, session_of
from gateproof.conformance.kit.service.service import Service, challenged, served, turned_away
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.fakes.gateway.keys import new_key, signed


@check("CHAL-01")
def session_of_a_good_token_is_none(service: Service, world: ServiceWorld) -> None:
    """In a session that was begun with a good token, a call without one gets the challenge."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    served(session.call(token), gateway.orders_of(USER))

    challenged(session.call(None))


@check("CHAL-01")
def cookie_of_a_good_token_is_none(service: Service, world: ServiceWorld) -> None:
    """With the cookies that came for a good token, and without a token, a call gets the challenge.

    Over MCP it begins with a session of its own.
    """
    gateway = world.gateway
    keeper = CookieKeeper(service=service)
    served(keeper.serve(gateway.access_token(USER)), gateway.orders_of(USER))
    if not keeper.has_cookies():
        raise LeftOut("the service sets no cookies")

    challenged(keeper.operate())


@check("CHAL-01")
def stream_of_a_session_is_not_open_to_everybody(service: Service, world: ServiceWorld) -> None:
    """Where a client may listen to what the server says unasked, it needs a token for that as well."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    served(session.call(token), gateway.orders_of(USER))
    if not is_a_stream(session.listen(token)):
        raise LeftOut("the server has no stream to listen to")

    answer = session.listen(None)
    expect.that(
        not is_a_stream(answer),
        answer.step,
        expected="a refusal: the request has no token",
        got=answer.outcome(),
        exchange=answer,
    )


@check("CHAL-01")
def session_is_not_ended_by_everybody(service: Service, world: ServiceWorld) -> None:
    """Whoever has no token cannot end the session of somebody who has."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    if not session.has_a_name():
        raise LeftOut("the server keeps no sessions")
    served(session.call(token), gateway.orders_of(USER))
    ended = session.end(None)

    after = session.call(token)
    expect.that(
        service.brings(after, gateway.orders_of(USER)),
        f"operation in a session that somebody without a token asked to end, which was {ended.outcome()}",
        expected="the orders",
        got=after.outcome(),
        exchange=after,
    )


@check("CHAL-04")
def session_of_a_good_token_takes_no_forged_one(service: Service, world: ServiceWorld) -> None:
    """In a session that was begun with a good token, one that a stranger's key signed gets the challenge."""
    gateway = world.gateway
    key = new_key(gateway.algorithm)

    _refused_in_a_session(service, world, signed(gateway.claims(USER), key, kid=gateway.core_key.kid))


@check("CHAL-05")
def session_of_a_good_token_takes_none_of_another_issuer(service: Service, world: ServiceWorld) -> None:
    """In a session that was begun with a good token, one of another issuer gets the challenge."""
    _refused_in_a_session(service, world, world.gateway.access_token(USER, iss="https://evil.example"))


@check("CHAL-06")
def session_of_a_good_token_takes_none_for_another_audience(service: Service, world: ServiceWorld) -> None:
    """In a session that was begun with a good token, one for the service itself gets the challenge."""
    _refused_in_a_session(service, world, world.gateway.access_token(USER, aud=[service.service_url]))


def _refused_in_a_session(service: Service, world: ServiceWorld, token: str) -> None:
    """A good token is served in the session and this one is not, though the gateway would redeem it."""
    gateway = world.gateway
    good = gateway.access_token(USER)
    session = session_of(service, good)
    served(session.call(good), gateway.orders_of(USER))
    gateway.let_redeem(token, USER)

    turned_away(lambda: session.call(token), lambda: session.call_once(token))
