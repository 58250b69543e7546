"""Redemption while the merchant rejects the gateway itself."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._merchant_rejection import STATUSES, merchant_rejected_the_gateway
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REDEEM-10", cases=STATUSES)
def merchant_that_turns_the_gateway_away_leaves_nothing_to_redeem(
    gateway: Gateway, world: World, case: int
) -> None:
    """Redemption gets 404 if the merchant rejected the gateway's credentials, and works later."""
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    alone = isolated_user(world, own=True)
    alone.script(provisioning={"outcome": "turn_away", "status": case})
    agent, proxy_token = world.agents.new(), alone.proxy_token()
    grant = alone.grant(agent)
    merchant_rejected_the_gateway(alone)

    answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
    alone.script()

    expect(answer).status(404)
    world.backend.require_redeemed(alone.grant(agent), proxy_token, not_yet=(404, 410))
