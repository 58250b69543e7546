"""The keys that a target publishes after it was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, rule_requires
from gateproof.conformance.wire.jose import verifying


@check("KEYS-01", needs=["restart"])
def token_from_before_a_restart_verifies(world: World) -> None:
    """A gateway access token verifies with the core key set after the target was killed and started again.

    The positive twin is a token that was issued after the restart.
    """
    there, kept = after_a_restart(world)
    for grant in (there.grant(), kept.grant):
        with rule_requires():
            keys = there.keys.core_for(grant.access_token, grant.resource)
        expect.that(
            bool(verifying(grant.access_token.reveal(), keys)),
            f"gateway access token from {'before' if grant is kept.grant else 'after'} a restart",
            expected=f"a signature that verifies with one of the {len(keys)} keys of the core key set",
            got="none of them verifies it",
        )
