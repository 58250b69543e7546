"""A Resource whose indicator was used before the Resource existed."""

from __future__ import annotations

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("REDEEM-01", needs=["control:create_resource"])
def resource_redeems_that_was_named_before_it_existed(gateway: Gateway, world: World) -> None:
    """A Resource redeems although its indicator was sent to redemption before the Resource was created.

    An operator may start the service first. A gateway may need a few seconds to provision a user.
    """
    project = world.projects.own_or_home()
    proxy_token, earlier = world.backend.proxy_token(project), world.grant(resource=project.resource)
    world.backend.require_redeemed(earlier, proxy_token)
    indicator = f"https://api.merchant.example/{world.unique()}"
    refused = gateway.redeem(earlier.access_token, proxy_token, indicator)
    require.that(
        not refused.member("access_token"),
        "redemption for a Resource that does not exist",
        expected="a refusal",
        got=refused.outcome(),
        exchange=refused,
    )
    grant = world.grant(resource=console.resource_in(world, project, indicator))

    expect(world.backend.redeem_after_backoff(grant, proxy_token)).status(200)
