"""The scope and duration of a Proxy client's revocation."""

from __future__ import annotations

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import ProxyClient

MAKES_AND_REVOKES = ["control:create_project", "control:create_proxy_client", "control:revoke_proxy_client"]
MORE_THAN_A_DAY_S = 25 * 3600


@check("PROXY-04", needs=MAKES_AND_REVOKES)
def revoked_first_client_gets_401(gateway: Gateway, world: World) -> None:
    """The first Proxy client of a Project, revoked after a second one was created, gets 401."""
    project = world.projects.own_or_home()
    newer = console.new_proxy_client(world, project)
    for client in (project.proxy_client, newer):
        require(gateway.proxy_token(client)).status(200)
    console.revoke(world, project.proxy_client)

    _gets_401(gateway, project.proxy_client)
    require(gateway.proxy_token(newer)).status(200)


@check("PROXY-04", needs=[*MAKES_AND_REVOKES, "control:advance_clock"])
def revoked_client_gets_401_a_day_later_too(gateway: Gateway, world: World) -> None:
    """A day later a revoked Proxy client still gets 401, and the Project's other client works."""
    project, leaving = world.projects.with_new_client()
    require(gateway.proxy_token(leaving)).status(200)
    console.revoke(world, leaving)
    require.step_of("Proxy token request of a revoked client")(gateway.proxy_token(leaving)).status(401)
    world.clock.advance(MORE_THAN_A_DAY_S)
    require(gateway.proxy_token(project.proxy_client)).status(200)

    _gets_401(gateway, leaving)


@check("PROXY-05", needs=MAKES_AND_REVOKES)
def revoking_the_first_leaves_a_newer_one(gateway: Gateway, world: World) -> None:
    """After a credential rotation (new Proxy client created, first one revoked), the new one works."""
    project = world.projects.own_or_home()
    newer = console.new_proxy_client(world, project)
    require(gateway.proxy_token(project.proxy_client)).status(200)
    grant = world.grant(resource=project.resource)
    asked = require(gateway.proxy_token(newer)).status(200)
    text = require.text(asked.member("access_token"), "access_token of the Proxy token request")
    token = gateway.keyring.secret("proxy_token", text)
    world.backend.require_redeemed(grant, token)
    console.revoke(world, project.proxy_client)

    expect(world.backend.redeem_once_provisioned(grant, token)).status(200)
    expect(gateway.proxy_token(newer)).status(200)


def _gets_401(gateway: Gateway, client: ProxyClient) -> None:
    answer = gateway.proxy_token(client)
    expect(answer).status(401)
    expect(answer).not_granted("a Proxy token", "access_token")
