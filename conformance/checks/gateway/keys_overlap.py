"""How long a key stays in the core key set after another has taken its place."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require, rule_requires
from gateproof.conformance.wire.jose import verifying

# So long before its end a token is still one to reckon with, and a life that is longer is not waited for.
SPARE_S, LONGEST_LIFE_S = 60.0, 24 * 3600.0


@check("KEYS-04", needs=["control:advance_clock"])
def token_from_before_a_rotation_verifies_to_its_end(world: World) -> None:
    """The old key stays as long as its tokens do: a minute before its end, a token still verifies."""
    grant = world.grant()
    token, life_s = grant.access_token, world.clock.life_s(grant.access_token, grant.answer)
    if not 2 * SPARE_S < life_s < LONGEST_LIFE_S:
        raise LeftOut("the token's life is no time that can be waited for here")
    require.that(
        bool(verifying(token.reveal(), world.keys.core(grant.resource))),
        "gateway access token",
        expected="a signature that verifies before the rotation",
        got="none",
    )
    world.keys.rotate()

    world.clock.advance(round(life_s - SPARE_S))

    with rule_requires():
        keys = world.keys.core(grant.resource)
    expect.that(
        bool(verifying(token.reveal(), keys)),
        f"gateway access token, {SPARE_S:.0f} s before its end",
        expected="a key in the core key set that verifies it",
        got="none",
    )
