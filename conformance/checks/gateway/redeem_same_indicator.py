"""Refreshed merchant tokens of one user in two Projects whose Resources have the same indicator."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._same_indicator import in_two_projects
from gateproof.conformance.checks.gateway._token_owner import expect_own_tokens
from gateproof.conformance.kit.gateway.isolated_user import let_expire, redeem_past
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require


@check("REDEEM-12", needs=["merchant", "control:create_resource", "control:create_project"], alone=True)
def each_project_keeps_its_own_past_a_refresh(world: World) -> None:
    """After refreshes in two Projects with the same indicator, a user still redeems each Project's token."""
    places = in_two_projects(world)
    grants, tokens = [], [place.proxy_token() for place in places]
    for place in places:
        place.short_lived()
        # An agent may be limited to one Project.
        grants.append(place.grant())
    before = [
        world.backend.require_redeemed(grant, token) for grant, token in zip(grants, tokens, strict=True)
    ]
    let_expire(world)
    for grant, token, answer in zip(grants, tokens, before, strict=True):
        past = redeem_past(world, grant, token, answer.member("access_token"))
        require.step_of("redemption after a refresh")(past).status(200)

    expect_own_tokens(world, [*zip(grants, tokens, strict=True), (grants[0], tokens[0])])
