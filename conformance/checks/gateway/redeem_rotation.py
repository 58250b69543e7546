"""New tokens redeem like the old ones when the core has another signing key."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REDEEM-01", needs=["control:rotate_keys"])
def merchant_token_comes_after_a_rotation(world: World) -> None:
    """Tokens from after the rotation redeem like those from before."""
    agent = world.agents.new()
    world.backend.require_redeemed(world.grant(agent=agent), world.backend.proxy_token())
    world.keys.rotate()
    grant, proxy_token = world.grant(agent=agent), world.backend.proxy_token()

    answer = world.backend.redeem_after_backoff(grant, proxy_token)

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")
