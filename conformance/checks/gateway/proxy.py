"""The Proxy token, and the Proxy clients that ask for it."""

from __future__ import annotations

from conformance.check import check
from conformance.claims import expect, require
from conformance.gateway import Gateway
from conformance.world import World


@check("PROXY-01")
def basic_and_client_credentials_give_a_token(gateway: Gateway, world: World) -> None:
    """A Proxy client gets an access token and says how long it lives."""
    answer = gateway.proxy_token(world.home().proxy_client)

    expect(answer).status(200)
    expect(answer).json_object()
    expect.text(answer.member("access_token"), "access_token")
    expires_in = answer.member("expires_in")
    integer = (
        isinstance(expires_in, int | float)
        and not isinstance(expires_in, bool)
        and expires_in == int(expires_in)
    )
    expect.that(integer, "expires_in", expected="an integer", got=expires_in)


@check("PROXY-02")
def token_lives_an_hour(gateway: Gateway, world: World) -> None:
    """`expires_in` is an hour, less the moment that it took to answer."""
    answer = gateway.proxy_token(world.home().proxy_client)
    expires_in = require(answer).json_object().get("expires_in")
    require.that(
        isinstance(expires_in, int | float) and not isinstance(expires_in, bool),
        "expires_in",
        expected="a number",
        got=expires_in,
    )

    expect.that(
        3595 <= (expires_in or 0) <= 3600, "expires_in", expected="3599 (3595 to 3600)", got=expires_in
    )
