"""Whom the merchant issued a redeemed token for."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Resource, User
from gateproof.conformance.wire.exchange import Exchange


def belongs(world: World, answer: Exchange, user: User, resource: Resource) -> None:
    """The merchant, where it can be asked, issued the access token for this user and this Resource."""
    if world.merchant is None:
        return
    token = require.text(answer.member("access_token"), "access_token of the redemption")
    known = world.merchant.lookup(token)
    if known is None and _may_be_of_before(world, resource):
        return
    expect.equal(
        known.kind if known is not None else "nothing of the merchant's",
        "access_token",
        "what a redemption gave as the merchant token",
    )
    if known is not None:
        expect.equal(known.login, user.login, "user whom the merchant issued the token for")
    if known is not None and resource.merchant_client_id is not None:
        expect.equal(
            known.client_id, resource.merchant_client_id, "client whom the merchant issued the token to"
        )


def _may_be_of_before(world: World, resource: Resource) -> bool:
    """Whether this merchant need not know a good token.

    Another one may be meant, or one of an earlier run, whose tokens a vault may still have; and in a long
    campaign a merchant forgets its oldest tokens.
    """
    if resource.merchant_client_id is None or not world.projects.pool.is_own(resource.project_id):
        return True
    return world.merchant is not None and world.merchant.dropped()["tokens"] > 0
