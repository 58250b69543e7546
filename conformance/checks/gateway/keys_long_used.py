"""A rotation of a core key that has been in use for a long time."""

from __future__ import annotations

import time

from gateproof.conformance.checks.gateway._signatures import require_verified
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import require_unexpired
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, rule_requires
from gateproof.conformance.wire.jose import verifying

# Longer than keys are usually kept that are deleted by their age.
IN_USE_S = 40 * 86_400
# What the clock is moved by after the rotation, and what all steps together may take.
PAUSE_S, STEPS_S = 30, 120


@check("KEYS-04", needs=["control:advance_clock", "control:rotate_keys"])
def token_of_a_long_used_key_outlives_its_rotation(gateway: Gateway, world: World) -> None:
    """A token that a key signed 40 days into its use still verifies and redeems after the key is rotated.

    A gateway may rotate its keys by itself meanwhile. Then the key is a newer one.
    """
    world.clock.advance(IN_USE_S)
    begun, grant, proxy_token = time.monotonic(), world.grant(), world.backend.proxy_token()
    if world.clock.life_s(grant.access_token, grant.answer) < 2 * STEPS_S:
        raise LeftOut("gateway access tokens live for less than four minutes")
    require_verified(world, grant)
    world.backend.require_redeemed(grant, proxy_token)
    world.keys.rotate()

    for pause_s in (PAUSE_S, 0):
        with rule_requires():
            keys = world.keys.core(grant.resource)
        answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
        if time.monotonic() - begun > STEPS_S:
            raise LeftOut("these steps took so long that the token may have expired meanwhile")
        expect.that(
            bool(verifying(grant.access_token.reveal(), keys)),
            "gateway access token of a key that was rotated after 40 days of use",
            expected=f"a signature that verifies with one of the {len(keys)} keys of the core key set",
            got="none of them verifies it",
        )
        require_unexpired(world, grant, answer)
        expect(answer).status(200)
        if pause_s:
            world.clock.advance(pause_s)
