"""The `sub` of users after the target was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.parties import Grant


@check("CLAIM-03", needs=["restart"])
def subject_is_the_same_after_a_restart(world: World) -> None:
    """A user who authorizes the same agent again after a restart has the same `sub` as before."""
    there = world.instance().world()
    before = there.grant()
    kill_and_start(world)
    after = there.grant(agent=before.agent, resource=before.resource, user=before.user)

    expect.that(
        _subject(there, after) == _subject(there, before),
        "sub after a restart, of a user who signed in before",
        expected="the sub of before",
        got="another one",
        exchange=after.answer,
    )


def _subject(world: World, grant: Grant) -> object:
    return world.jwt(grant.access_token, "gateway access token").claims.get("sub")
