"""Whom the merchant issued a redeemed token for."""

from __future__ import annotations

from conformance.claims import expect, require
from conformance.parties import Resource, User
from conformance.wire.exchange import Exchange
from conformance.world import World


def belongs(world: World, answer: Exchange, user: User, resource: Resource) -> None:
    """The merchant, where it can be asked, issued the access token for this user and this Resource."""
    if world.merchant is None:
        return
    token = require.text(answer.member("access_token"), "access_token of the redemption")
    known = world.merchant.lookup(token)
    if known is None and (resource.merchant_client_id is None or world.merchant.dropped()["tokens"]):
        # Another merchant may be meant, or this one forgot its oldest tokens in a long campaign.
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
