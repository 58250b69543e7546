"""Right after a rotation, tokens verify with the core key set."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._refreshed_tokens import refresh_or_leave_out
from gateproof.conformance.checks.gateway._signatures import expect_verified
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, rule_requires
from gateproof.conformance.wire.jose import verifying


@check("KEYS-01", needs=["control:rotate_keys"])
def tokens_from_after_a_rotation_verify(world: World) -> None:
    """After each of two rotations, new tokens are signed with a new key of the core key set."""
    world = world.in_one_browser()
    before = world.grant()
    if not world.worker_state.core_keys:
        # Other checks test a key set that never had a key; this one tests a set that a rotation emptied.
        world.keys.core(before.resource)
    same = 0
    for _ in range(2):
        world.keys.rotate()
        after = world.grant()
        with rule_requires():
            keys = world.keys.core_for(after.access_token, after.resource)
            expect_verified(world, after)
        signers = [verifying(grant.access_token.reveal(), keys) for grant in (before, after)]
        same += bool(signers[0]) and signers[0] == signers[1]
        before = after
    if same:
        raise LeftOut("rotate_keys did not change the key that signs the next token")


@check("KEYS-01", needs=["control:rotate_keys"])
def renewed_access_token_from_after_a_rotation_verifies(world: World) -> None:
    """An access token from a refresh after a rotation verifies with the core key set."""
    grant = world.grant()
    expect_verified(world, grant)
    world.keys.rotate()

    renewed = refresh_or_leave_out(world, grant, "a refresh after a rotation gives no tokens")
    with rule_requires():
        expect_verified(world, renewed)
