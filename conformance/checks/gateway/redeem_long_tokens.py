"""Redemption of a long merchant token."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._long_tokens import LONG_TOKEN
from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.kit.gateway.isolated_user import expect_orders, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REDEEM-01", needs=["merchant"])
def long_merchant_token_redeems_whole(world: World) -> None:
    """A merchant token of some thousand characters redeems unchanged: the specification states no limit."""
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    alone = isolated_user(world, own=True)
    alone.script(shortest_token=LONG_TOKEN)
    grant = alone.grant()

    answer = world.backend.redeem_after_backoff(grant, alone.proxy_token())
    expect(answer).status(200)
    expect_owner(world, answer, grant.user, grant.resource)
    expect_orders(alone, expect.text(answer.member("access_token"), "access_token"))
