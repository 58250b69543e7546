"""For which user and Resource the merchant issued a redeemed token."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Resource, User
from gateproof.conformance.wire.exchange import Exchange


def belongs(world: World, answer: Exchange, user: User, resource: Resource) -> None:
    """The merchant, if it can be asked, issued the access token for this user and this Resource."""
    if world.merchant is None:
        return
    token = require.text(answer.member("access_token"), "access_token of the redemption")
    known = world.merchant.lookup(token)
    if known is None and _may_be_unknown(world, resource):
        return
    expect.equal(
        known.kind if known is not None else "a token that this merchant did not issue",
        "access_token",
        "origin of the merchant token that a redemption returned",
    )
    if known is not None:
        expect.equal(known.login, user.login, "user for whom the merchant issued the token")
    if known is not None and resource.merchant_client_id is not None:
        expect.equal(
            known.client_id, resource.merchant_client_id, "client to which the merchant issued the token"
        )


def _may_be_unknown(world: World, resource: Resource) -> bool:
    """True if the merchant may not know a token that is good.

    The token can be from another merchant, or from an earlier run, because a vault may still hold tokens from
    then. In a long campaign, a merchant also forgets its oldest tokens.
    """
    if resource.merchant_client_id is None or not world.projects.pool.is_own(resource.project_id):
        return True
    return world.merchant is not None and world.merchant.dropped()["tokens"] > 0
