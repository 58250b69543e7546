"""Users can sign in while the merchant rejects the gateway itself."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._merchant_rejection import STATUSES, merchant_rejected_the_gateway
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
    """The agent gets a code while the merchant rejects the gateway's own credentials, and afterwards."""
    # Positive twin: while the merchant accepts the gateway, the same sign-in gives a code.
    accepting = isolated_user(world)
    world.new_code(resource=accepting.resource, user=accepting.user)
    place = isolated_user(world, own=True)
    place.script(provisioning={"outcome": "turn_away", "status": case})
    visit = gateway.visit(world.attempt(resource=place.resource, user=place.user))
    merchant_rejected_the_gateway(place)
    place.script()

    code_came(visit, f"sign-in while the merchant answers {case} to the gateway")
    after = world.attempt(resource=place.resource, user=place.user)
    with rule_requires():
        world.code_for(after)
