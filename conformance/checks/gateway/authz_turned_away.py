"""A merchant that does not deal with the gateway: its users sign in all the same."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._turned_away import STATUSES, met
from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import rule_requires


@check("AUTHZ-10", cases=STATUSES)
def sign_in_outlives_a_merchant_that_turns_the_gateway_away(
    gateway: Gateway, world: World, case: int
) -> None:
    """The agent gets its code, and gets one when the merchant is friendly again."""
    # Where the merchant takes the gateway, a sign-in like this one gives a code.
    friendly = isolated_user(world)
    world.new_code(resource=friendly.resource, user=friendly.user)
    place = isolated_user(world)
    place.script(provisioning={"outcome": "turn_away", "status": case})
    visit = gateway.visit(world.attempt(resource=place.resource, user=place.user))
    met(place)
    place.script()

    code_came(visit, f"sign-in while the merchant answers {case} to the gateway")
    after = world.attempt(resource=place.resource, user=place.user)
    with rule_requires():
        world.code_for(after)
