"""How long an old key stays in the core key set after a rotation."""

from __future__ import annotations

import time

from gateproof.conformance.checks.gateway._signatures import require_verified
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, rule_requires
from gateproof.conformance.wire.jose import verifying

# The remaining lifetime at which a token is tested, and the longest lifetime for which the clock is moved.
SPARE_S, LONGEST_LIFE_S = 60.0, 24 * 3600.0


@check("KEYS-04", needs=["control:advance_clock"])
def token_from_before_a_rotation_verifies_to_its_end(world: World) -> None:
    """A token signed before a key rotation still verifies a minute before it expires."""
    begun, grant = time.monotonic(), world.grant()
    token, life_s = grant.access_token, world.clock.life_s(grant.access_token, grant.answer)
    if not 2 * SPARE_S < life_s < LONGEST_LIFE_S:
        raise LeftOut("the token's lifetime is too short or too long to wait for here")
    require_verified(world, grant)
    world.keys.rotate()

    world.clock.advance(round(life_s - SPARE_S))

    with rule_requires():
        keys = world.keys.core(grant.resource)
    if time.monotonic() - begun > SPARE_S / 2:
        raise LeftOut("rotation and clock took so long that the token may have expired meanwhile")
    expect.that(
        bool(verifying(token.reveal(), keys)),
        f"gateway access token, {SPARE_S:.0f} s before its end",
        expected="a key in the core key set that verifies it",
        got="none",
    )
