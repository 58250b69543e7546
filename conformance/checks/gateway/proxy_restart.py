"""Proxy clients and Proxy tokens of a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("PROXY-06", needs=["restart"])
def proxy_token_from_before_a_restart_redeems(world: World) -> None:
    """A Proxy token still redeems after the target was killed and started again.

    The user signs in after the restart. A Proxy token issued after the restart redeems first.
    """
    there = world.instance().world()
    token = there.backend.proxy_token()
    there.backend.require_redeemed(there.grant(), token)
    kill_and_start(world)
    fresh = there.grant()
    there.backend.require_redeemed(fresh, there.backend.proxy_token())

    expect(there.backend.redeem_once_provisioned(fresh, token, not_yet=())).status(200)


@check("PROXY-04", needs=["restart", "control:create_proxy_client", "control:revoke_proxy_client"])
def revoked_client_gets_401_after_a_restart_too(world: World) -> None:
    """A Proxy client that was revoked before a restart gets 401 after it, while another one gets a token."""
    there = world.instance().world()
    project = there.projects.home()
    client = console.new_proxy_client(there, project)
    require(there.gateway.proxy_token(client)).status(200)
    console.revoke(there, client)
    kill_and_start(world)
    require(there.gateway.proxy_token(project.proxy_client)).status(200)

    answer = there.gateway.proxy_token(client)
    expect(answer).status(401)
    expect(answer).not_granted("a Proxy token", "access_token")
