"""Redemption with the Proxy token of another Project that has the same name."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REDEEM-05", needs=["control:create_project"])
def project_of_the_same_name_is_another(gateway: Gateway, world: World) -> None:
    """A Proxy token of another Project gets 401, although both Projects have the same name."""
    one, other = world.projects.two_with_same_name()
    grant, foreign = world.grant(resource=one.resource), world.backend.proxy_token(other)
    world.backend.require_redeemed(grant, world.backend.proxy_token(one))
    world.backend.require_redeemed(world.grant(resource=other.resource), foreign)

    answer = gateway.redeem(grant.access_token, foreign, one.resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")
