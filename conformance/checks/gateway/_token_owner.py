"""For which user and Resource the merchant issued a redeemed token."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Grant, Resource, User
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret


def expect_owner(world: World, answer: Exchange, user: User, resource: Resource) -> None:
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


def expect_own_tokens(world: World, redeemed: list[tuple[Grant, Secret]]) -> None:
    """Each redemption gives a token of its grant's user and Resource, and no two owners share one."""
    owners: dict[str, tuple[str, str]] = {}
    for grant, proxy_token in redeemed:
        answer = world.backend.redeem_once_provisioned(grant, proxy_token)
        token = require.text(require(answer).status(200).member("access_token"), "access_token")
        owner = (grant.user.login, grant.resource.id)
        first = owners.setdefault(token, owner)
        expect.that(
            first == owner,
            f"merchant token of {grant.user.name} at {grant.resource.indicator}",
            expected="a token of their own",
            got=f"the one that {first[0]} got at Resource {first[1]}",
        )
        expect_owner(world, answer, grant.user, grant.resource)


def _may_be_unknown(world: World, resource: Resource) -> bool:
    """True if the merchant may not know a valid token.

    The token can be from another merchant, or from an earlier run, because the gateway may still store tokens
    from it. In a long campaign, the fake merchant also drops its oldest tokens.
    """
    if resource.merchant_client_id is None or not world.projects.pool.created_by_run(resource.project_id):
        return True
    return world.merchant is not None and world.merchant.dropped()["tokens"] > 0
