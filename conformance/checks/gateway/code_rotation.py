"""Codes after a rotation of the signing key: each gives tokens, and only once."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import TOKENS, no_tokens, require_exchange
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.jose import read


@check("CODE-01", needs=["control:rotate_keys"])
def every_token_comes_after_a_rotation(world: World) -> None:
    """After a key rotation, an agent exchanges codes with the secret that it had before."""
    world = world.in_one_browser()
    agent = world.agents.new()
    require_exchange(world, agent)
    world.keys.rotate()

    answer = world.gateway.exchange(world.new_code(agent=agent))

    expect(answer).status(200)
    for name in TOKENS:
        expect.text(answer.member(name), name)
    expect.that(
        read(str(answer.member("access_token"))) is not None,
        "access_token after a rotation",
        expected="a JWT",
        got="something else",
    )


@check("CODE-02", needs=["control:rotate_keys"])
def used_code_stays_used_across_a_rotation(world: World) -> None:
    """A code that was used before a key rotation is refused after it."""
    authorization = world.new_code()
    require(world.gateway.exchange(authorization)).status(200)
    world.keys.rotate()

    no_tokens(world.gateway.exchange(authorization), "a code used before a rotation")
