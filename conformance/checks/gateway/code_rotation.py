"""Codes give their tokens as before when the core has another signing key, and no more often."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import TOKENS, no_tokens, works
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.jose import read


@check("CODE-01", needs=["control:rotate_keys"])
def every_token_comes_after_a_rotation(world: World) -> None:
    """An agent exchanges its codes with the secret that it was given before."""
    world = world.in_one_browser()
    agent = world.agents.new()
    works(world, agent)
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
    """A code that was exchanged gets nothing when the core has another signing key."""
    authorization = world.new_code()
    require(world.gateway.exchange(authorization)).status(200)
    world.keys.rotate()

    no_tokens(world.gateway.exchange(authorization), "a code used before a rotation")
