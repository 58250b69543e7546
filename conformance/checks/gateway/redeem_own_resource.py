"""A service that redeems another Project's token at a Resource of its own."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REDEEM-05", cases=("home", "abroad"))
def foreign_token_gets_nothing_at_the_clients_own_resource(gateway: Gateway, world: World, case: str) -> None:
    """A token of another Project redeems nothing at a Resource of the Proxy client's own Project.

    This is what a service can try with a token that an agent sent to it. The same user has a merchant token
    there, and both tokens redeem in their own Projects. The indicator is not the token's either, so the
    status is left open.
    """
    one, other = (
        (world.projects.home(), world.projects.another())
        if case == "home"
        else (world.projects.another(), world.projects.home())
    )
    grant, elsewhere = world.grant(resource=one.resource), world.grant(resource=other.resource)
    foreign = world.backend.proxy_token(other)
    world.backend.require_redeemed(grant, world.backend.proxy_token(one))
    world.backend.require_redeemed(elsewhere, foreign)

    answer = gateway.redeem(grant.access_token, foreign, other.resource.indicator)

    expect(answer).not_granted("the merchant token", "access_token")
