"""Merchant tokens of one user for two Resources with nearly the same indicator."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require, values_of_choice

# Two endings after a unique path segment. By RFC 3986 the two can be different URLs.
ALIKE: Mapping[str, tuple[str, str]] = {
    "a-slash-at-the-end": ("orders", "orders/"),
    "another-case": ("orders", "Orders"),
    "another-last-letter": ("a" * 300 + "b", "a" * 300 + "c"),
    "a-query": ("orders?of=a", "orders?of=b"),
}


@check("REDEEM-12", needs=["merchant", "control:create_resource"], cases=ALIKE)
def similar_indicators_have_a_token_each(world: World, case: tuple[str, str]) -> None:
    """Two Resources with similar indicators give a user two different merchant tokens."""
    project = world.projects.home()
    begun = f"https://api.merchant.example/{world.unique()}"
    # If the gateway accepts only one of two such indicators, there is nothing to test.
    resources = [console.resource_in(world, project, f"{begun}/{end}") for end in case]
    agent, proxy_token = world.agents.new(), world.backend.proxy_token(project)
    with values_of_choice():
        grants = [world.grant(agent=agent, resource=resource) for resource in resources]
        for grant in grants:
            world.backend.require_redeemed(grant, proxy_token)

    owners: dict[str, str] = {}
    for grant in (*grants, grants[0]):
        answer = require(world.backend.redeem_once_provisioned(grant, proxy_token)).status(200)
        token = require.text(answer.member("access_token"), "access_token of the redemption")
        first = owners.setdefault(token, grant.resource.id)
        expect.that(
            first == grant.resource.id,
            f"merchant token for {grant.resource.indicator}",
            expected="one of its own",
            got="the one that was given for the other indicator",
        )
        expect_owner(world, answer, grant.user, grant.resource)
