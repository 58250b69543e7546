"""Which Proxy tokens a revocation invalidates, and for how long."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.secret import Secret

MAKES_AND_REVOKES = ["control:create_project", "control:create_proxy_client", "control:revoke_proxy_client"]
# A Proxy token lives for 3599 seconds.
WHILE_IT_LIVES_S = 45 * 60


@check("REDEEM-06", needs=MAKES_AND_REVOKES)
def revocation_of_the_first_client_reaches_its_tokens(gateway: Gateway, world: World) -> None:
    """Tokens of a Project's first Proxy client get 401 after its revocation; a newer client's still work."""
    project = world.projects.own_or_home()
    newer = replace(project, proxy_client=console.new_proxy_client(world, project))
    grant = world.grant(resource=project.resource)
    token, other = world.backend.proxy_token(project), world.backend.proxy_token(newer)
    world.backend.require_redeemed(grant, token)
    console.revoke(world, project.proxy_client)

    _refused(gateway, grant, token)
    require(gateway.redeem(grant.access_token, other, grant.resource.indicator)).status(200)


@check("REDEEM-06", needs=[*MAKES_AND_REVOKES, "control:advance_clock"])
def revocation_reaches_tokens_for_as_long_as_they_live(gateway: Gateway, world: World) -> None:
    """A Proxy token of a revoked client still gets 401 later in its hour, with a fresh grant."""
    project, client = world.projects.with_new_client()
    leaving = replace(project, proxy_client=client)
    grant, token = world.grant(resource=project.resource), world.backend.proxy_token(leaving)
    world.backend.require_redeemed(grant, token)
    console.revoke(world, leaving.proxy_client)
    answer = gateway.redeem(grant.access_token, token, grant.resource.indicator)
    require.step_of("redemption with a revoked Proxy client")(answer).status(401)
    world.clock.advance(WHILE_IT_LIVES_S)
    fresh = world.grant(resource=project.resource)
    world.backend.require_redeemed(fresh, world.backend.proxy_token(project))

    _refused(gateway, fresh, token)


def _refused(gateway: Gateway, grant: Grant, token: Secret) -> None:
    answer = gateway.redeem(grant.access_token, token, grant.resource.indicator)
    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")
