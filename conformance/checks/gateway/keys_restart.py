"""The keys that a target publishes after it was killed and started again."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, rule_requires
from gateproof.conformance.wire.jose import verifying

# A key may leave the key set when the last token that it signed is about to expire.
SOON_S = 5.0


@check("KEYS-04", needs=["restart"])
def tokens_from_before_a_rotation_and_a_restart_verify(world: World) -> None:
    """Tokens from before and after a rotation verify after the target was killed and started again.

    The positive twin is a token that was issued after the restart.
    """
    there = world.instance().world()
    old = there.grant()
    end = time.monotonic() + there.clock.life_s(old.access_token, old.answer)
    there.keys.rotate()
    new = there.grant()
    kill_and_start(world)

    fresh = there.grant()
    for when, grant in (
        ("after a restart", fresh),
        ("before a restart", new),
        ("before a rotation and a restart", old),
    ):
        with rule_requires():
            keys = there.keys.core_for(grant.access_token, grant.resource)
        if grant is not fresh and time.monotonic() > end - SOON_S:
            raise LeftOut("tokens from before the restart expired before their keys were fetched")
        expect.that(
            bool(verifying(grant.access_token.reveal(), keys)),
            f"gateway access token from {when}",
            expected=f"a signature that verifies with one of the {len(keys)} keys of the core key set",
            got="none of them verifies it",
        )
