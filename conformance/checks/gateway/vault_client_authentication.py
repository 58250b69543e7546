"""The gateway authenticates at the merchant for a refresh as it does for other requests."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    isolated_user,
    let_expire,
    redeem_past,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

REFRESH = "refresh_token"


@check("VAULT-12", alone=True)
def refresh_is_authenticated_like_the_sign_in(world: World) -> None:
    """A refresh carries a client assertion, if an earlier request of the same client did.

    A gateway that sends this merchant no client assertion at all is left out.
    """
    alone = isolated_user(world)
    alone.short_lived()
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = world.backend.require_redeemed(grant, proxy_token)
    if not _authenticated(alone):
        raise LeftOut("the gateway authenticates at the merchant without a client assertion")
    let_expire(world)
    answer = redeem_past(world, grant, proxy_token, str(first.member("access_token")))
    require_unexpired(world, grant, answer)
    refreshes = alone.asked(REFRESH)
    require.that(
        bool(refreshes), "journal of the fake merchant", expected="a refresh of this user", got="none"
    )

    bare = [entry.ordinal for entry in refreshes if entry.client_assertion is None]
    expect.that(
        not bare,
        "refreshes at a merchant to which the gateway has sent client assertions",
        expected="a client assertion in each",
        got=f"none in {len(bare)} of {len(refreshes)}",
    )


def _authenticated(alone: IsolatedUser) -> bool:
    """True if a request that was no refresh carried a client assertion of this client."""
    return any(
        entry.grant != REFRESH and "client_assertion" in entry.verified_by for entry in alone.received()
    )
