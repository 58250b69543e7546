"""Proxy clients after a rotation of the core's signing key."""

from __future__ import annotations

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require

MAKES_AND_REVOKES = ("control:create_proxy_client", "control:revoke_proxy_client")


@check("PROXY-01", needs=["control:rotate_keys"])
def proxy_token_comes_after_a_rotation(gateway: Gateway, world: World) -> None:
    """After a key rotation, a Proxy client gets tokens with the secret that it had before."""
    client = world.projects.home().proxy_client
    require(gateway.proxy_token(client)).status(200)
    world.keys.rotate()

    answer = gateway.proxy_token(client)

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")


@check("PROXY-04", needs=[*MAKES_AND_REVOKES, "control:rotate_keys"])
def revoked_client_gets_401_after_a_rotation_too(gateway: Gateway, world: World) -> None:
    """After a key rotation a revoked Proxy client still gets 401, and the other client works."""
    project, leaving = world.projects.with_new_client()
    require(gateway.proxy_token(leaving)).status(200)
    console.revoke(world, leaving)
    require.step_of("Proxy token request of a revoked client")(gateway.proxy_token(leaving)).status(401)
    world.keys.rotate()
    require(gateway.proxy_token(project.proxy_client)).status(200)

    expect(gateway.proxy_token(leaving)).status(401)
