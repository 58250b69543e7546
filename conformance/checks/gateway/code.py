"""The token endpoint, for an agent with a code."""

from __future__ import annotations

from conformance.check import check
from conformance.claims import expect
from conformance.gateway import Gateway
from conformance.wire.jose import read
from conformance.world import World


@check("CODE-01")
def exchange_answers_with_every_token(gateway: Gateway, world: World) -> None:
    """A code gives an access token and an ID token, both JWTs, a refresh token and the granted scopes."""
    answer = gateway.exchange(world.authorization())

    expect(answer).status(200)
    tokens = expect(answer).json_object()
    for name in ("access_token", "id_token"):
        token = expect.text(tokens.get(name), name)
        expect.that(read(token) is not None, name, expected="a JWT", got="something else")
    expect.text(tokens.get("refresh_token"), "refresh_token")
    expect.text(tokens.get("scope"), "scope")
