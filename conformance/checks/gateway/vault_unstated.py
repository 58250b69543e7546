"""A merchant that states no `expires_in` when it refreshes a token."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._unstated_refresh import refreshed_without_a_life
from gateproof.conformance.kit.gateway.isolated_user import expect_orders, expect_renewed
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("VAULT-01", alone=True)
def refresh_without_a_stated_life_brings_a_token(world: World) -> None:
    """If the merchant answers a refresh without `expires_in`, two redemptions return tokens that work."""
    alone, expired, answers = refreshed_without_a_life(world)
    for answer in answers:
        expect_renewed(answer, expired)
        expect_orders(alone, expect.text(answer.member("access_token"), "access_token of the redemption"))
