"""Redemption at a target that was killed and started again."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.isolated_user import require_unexpired
from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect

REVOKES = ["control:create_proxy_client", "control:revoke_proxy_client"]


@check("REDEEM-01", needs=["restart", "merchant"])
def grant_from_before_a_restart_redeems(world: World) -> None:
    """A gateway access token that redeemed before a restart redeems after it, with a new Proxy token."""
    there = world.instance().world()
    project = there.projects.new()
    grant = there.grant(resource=project.resource)
    there.backend.require_redeemed(grant, there.backend.proxy_token(project))
    kill_and_start(world)

    answer = there.backend.redeem_once_provisioned(grant, there.backend.proxy_token(project), not_yet=())
    require_unexpired(there, grant, answer)
    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token of the redemption")


@check("REDEEM-06", needs=["restart", *REVOKES])
def revocation_reaches_tokens_after_a_restart_too(world: World) -> None:
    """A Proxy token whose client was revoked before a restart gets 401 after it; another one redeems."""
    there = world.instance().world()
    project = there.projects.home()
    client = console.new_proxy_client(there, project)
    token = there.backend.proxy_token(replace(project, proxy_client=client))
    grant = there.grant()
    there.backend.require_redeemed(grant, token)
    console.revoke(there, client)
    kill_and_start(world)
    fresh = there.grant()
    there.backend.require_redeemed(fresh, there.backend.proxy_token(project))

    answer = there.gateway.redeem(fresh.access_token, token, fresh.resource.indicator)
    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")
