"""A session does not replace a token: every call is authorized on its own."""

from __future__ import annotations

from gateproof.conformance.checks.service._altered_tokens import USER, for_another_audience
from gateproof.conformance.checks.service._ended_sessions import ends_nothing
from gateproof.conformance.kit.service.cookies import CookieKeeper
from gateproof.conformance.kit.service.mcp_session import is_a_stream, session_of
from gateproof.conformance.kit.service.service import (
    Service,
    expect_challenge,
    expect_refused_twice,
    require_served,
)
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.fakes.gateway.keys import new_key, signed


@check("CHAL-01")
def session_of_a_good_token_is_none(service: Service, world: ServiceWorld) -> None:
    """A call without a token gets the challenge also in a session started with a good token."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USER))

    expect_challenge(session.call(None))


@check("CHAL-01")
def cookie_of_a_good_token_is_none(service: Service, world: ServiceWorld) -> None:
    """A call without a token gets the challenge also with the cookies set for a good token.

    Over MCP the call starts its own session.
    """
    gateway = world.gateway
    keeper = CookieKeeper(service=service)
    require_served(keeper.serve(gateway.access_token(USER)), gateway.orders_of(USER))
    if not keeper.has_cookies():
        raise LeftOut("the service sets no cookies")

    expect_challenge(keeper.operate())


@check("CHAL-01")
def stream_of_a_session_is_not_open_to_everybody(service: Service, world: ServiceWorld) -> None:
    """The event stream of a session is refused without a token."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USER))
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
    """A request without a token cannot end another client's session."""
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USER))

    ends_nothing(session, session, "no token", world, token, None)


@check("CHAL-04")
def session_of_a_good_token_takes_no_forged_one(service: Service, world: ServiceWorld) -> None:
    """In a session started with a good token, a token under an unknown key gets the challenge."""
    gateway = world.gateway
    key = new_key(gateway.algorithm)

    _refused_in_a_session(service, world, signed(gateway.claims(USER), key, kid=gateway.core_key.kid))


@check("CHAL-05")
def session_of_a_good_token_takes_none_of_another_issuer(service: Service, world: ServiceWorld) -> None:
    """In a session started with a good token, a token of another issuer gets the challenge."""
    _refused_in_a_session(service, world, world.gateway.access_token(USER, iss="https://evil.example"))


@check("CHAL-06")
def session_of_a_good_token_takes_none_for_another_audience(service: Service, world: ServiceWorld) -> None:
    """In a session started with a good token, a token for the service itself gets the challenge."""
    _refused_in_a_session(service, world, for_another_audience(service, world))


def _refused_in_a_session(service: Service, world: ServiceWorld, token: str) -> None:
    """Expects that this token is refused in a good token's session, although the gateway would redeem it."""
    gateway = world.gateway
    good = gateway.access_token(USER)
    session = session_of(service, good)
    require_served(session.call(good), gateway.orders_of(USER))
    gateway.let_redeem(token, USER)

    expect_refused_twice(lambda: session.call(token), lambda: session.call_once(token))
