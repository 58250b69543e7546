"""A user who has a merchant token at one Resource of a Project, and none at another."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require

CREATES = ("control:create_project", "control:create_resource")


@check("REDEEM-10", needs=["merchant", *CREATES])
def merchant_token_of_a_sibling_is_none(gateway: Gateway, world: World) -> None:
    """Redemption gets 404 at a Resource where the merchant rejected the user, who has a token at another.

    Both Resources are in one Project. The token for the other Resource does not redeem here, either. After a
    sign-in at which the merchant accepts the user, redemption works.
    """
    first = isolated_user(world, own=True)
    indicator = f"https://api.merchant.example/{world.unique()}"
    project = replace(first.project, resource=console.resource_in(world, first.project, indicator))
    second = replace(first, project=project, client_id=project.resource.merchant_client_id or "")
    second.script(provisioning="reject")
    agent, proxy_token = world.agents.new(), first.proxy_token()
    elsewhere = first.grant(agent)
    world.backend.require_redeemed(elsewhere, proxy_token)
    grant = second.grant(agent)
    second.require_outcome("reject")

    answer = gateway.redeem(grant.access_token, proxy_token, indicator)
    foreign = gateway.redeem(elsewhere.access_token, proxy_token, indicator)
    second.script()

    expect(answer).status(404)
    expect(foreign).not_granted("the merchant token", "access_token")
    again = world.backend.redeem_after_backoff(second.grant(agent), proxy_token, not_yet=(404, 410))
    require.step_of("redemption after a new sign-in")(again).status(200)
