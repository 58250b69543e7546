"""Redemption for a user who signed in before many others."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway.isolated_user import isolated_user, new_user, require_unexpired
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect

# More than the usual small limits.
OTHERS = 33
LONG_LIFE_S = 36_000
# Time limit for the sign-ins of all others.
LONGEST_S = 60


@check("REDEEM-01", needs=["merchant"])
def first_user_redeems_after_many_others(world: World) -> None:
    """After 33 others have signed in at the Resource through the same agent, the first user redeems."""
    alone, agent = isolated_user(world), world.agents.new()
    alone.script(access_token_lifetime_s=LONG_LIFE_S)
    first, proxy_token = alone.grant(agent), alone.proxy_token()
    world.backend.require_redeemed(first, proxy_token)
    begun = time.monotonic()
    for _ in range(OTHERS - 1):
        if time.monotonic() > begun + LONGEST_S:
            raise LeftOut(f"{OTHERS} sign-ins take longer than {LONGEST_S} s here")
        user = new_user(world, alone.merchant)
        world.code_for(world.attempt(agent, resource=alone.resource, user=user))
    last = world.grant(agent=agent, resource=alone.resource, user=new_user(world, alone.merchant))
    world.backend.require_redeemed(last, proxy_token)

    answer = world.backend.redeem_once_provisioned(first, proxy_token)

    require_unexpired(world, first, answer)
    expect(answer).status(200)
