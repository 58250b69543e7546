"""Redemption at a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect

MAKES_AND_REVOKES = ["control:create_project", "control:create_proxy_client", "control:revoke_proxy_client"]


@check("REDEEM-01", needs=["restart", "merchant"])
def grant_from_before_a_restart_redeems(world: World) -> None:
    """A gateway access token from before a restart redeems, with a Proxy token from after it.

    The positive twin is a grant from after the restart.
    """
    there, kept = after_a_restart(world)
    proxy_token = there.backend.proxy_token()
    there.backend.require_redeemed(there.grant(), proxy_token)

    answer = there.backend.redeem_once_provisioned(kept.grant, proxy_token, not_yet=())
    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token of the redemption")


@check("REDEEM-06", needs=["restart", *MAKES_AND_REVOKES])
def revocation_reaches_tokens_after_a_restart_too(world: World) -> None:
    """A Proxy token whose client was revoked before a restart gets 401 after it; another one redeems."""
    there, kept = after_a_restart(world)
    if kept.revoked_proxy_token is None:
        raise LeftOut("no Proxy client could be revoked before the restart")
    fresh = there.grant()
    there.backend.require_redeemed(fresh, there.backend.proxy_token())

    answer = there.gateway.redeem(fresh.access_token, kept.revoked_proxy_token, fresh.resource.indicator)
    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")
