"""Subjects of a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("CLAIM-03", needs=["restart"])
def subject_is_the_same_after_a_restart(world: World) -> None:
    """A user who signs in again after a restart has the `sub` of before, at the same Resource."""
    there, kept = after_a_restart(world)
    before = there.jwt(kept.grant.access_token, "gateway access token").claims.get("sub")
    fresh = there.grant(resource=kept.grant.resource, user=kept.grant.user)
    after = there.jwt(fresh.access_token, "gateway access token").claims.get("sub")

    expect.that(
        after == before,
        "sub after a restart, of a user who signed in before",
        expected="the sub of before",
        got="another one",
        exchange=fresh.answer,
    )
