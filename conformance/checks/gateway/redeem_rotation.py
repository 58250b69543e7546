"""Redemption after a rotation of the core's signing key."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REDEEM-01", needs=["control:rotate_keys"])
def merchant_token_comes_after_a_rotation(world: World) -> None:
    """After a key rotation, a new access token and a new Proxy token redeem."""
    agent = world.agents.new()
    world.backend.require_redeemed(world.grant(agent=agent), world.backend.proxy_token())
    world.keys.rotate()
    grant, proxy_token = world.grant(agent=agent), world.backend.proxy_token()

    # Another process may need a moment until it knows the new key.
    answer = world.backend.redeem_after_backoff(grant, proxy_token, not_yet=(401, 404))

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")
