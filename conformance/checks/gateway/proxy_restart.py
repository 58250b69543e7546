"""Proxy clients and Proxy tokens of a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

MAKES_AND_REVOKES = ["control:create_project", "control:create_proxy_client", "control:revoke_proxy_client"]


@check("PROXY-06", needs=["restart"])
def proxy_token_from_before_a_restart_redeems(world: World) -> None:
    """A Proxy token serves redemptions within its hour, also after the target was killed and started again.

    It is used for a user who signs in after the restart; a Proxy token from after it redeems as well.
    """
    there, kept = after_a_restart(world)
    fresh = there.grant()
    there.backend.require_redeemed(fresh, there.backend.proxy_token())

    expect(there.backend.redeem_once_provisioned(fresh, kept.proxy_token, not_yet=())).status(200)


@check("PROXY-04", needs=["restart", *MAKES_AND_REVOKES])
def revoked_client_gets_401_after_a_restart_too(world: World) -> None:
    """A Proxy client that was revoked before a restart gets 401 after it, where another one gets a token."""
    there, kept = after_a_restart(world)
    if kept.revoked is None:
        raise LeftOut("no Proxy client could be revoked before the restart")
    require(there.gateway.proxy_token(there.projects.home().proxy_client)).status(200)

    answer = there.gateway.proxy_token(kept.revoked)
    expect(answer).status(401)
    expect(answer).not_granted("a Proxy token", "access_token")
