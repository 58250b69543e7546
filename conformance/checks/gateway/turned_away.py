"""A merchant that will have nothing to do with the gateway itself: its users sign in all the same."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.check import check
from conformance.checks.gateway._visits import code_came
from conformance.claims import LeftOut, Unmet, expect, require
from conformance.gateway import Gateway
from conformance.seclusion import Seclusion, secluded
from conformance.world import World

# `invalid_client` with the challenge that HTTP asks for, and `access_denied`.
STATUSES: Mapping[str, int] = {"invalid-client": 401, "access-denied": 403}


@check("AUTHZ-10", cases=STATUSES)
def sign_in_outlives_a_merchant_that_turns_the_gateway_away(
    gateway: Gateway, world: World, case: int
) -> None:
    """The agent gets its code, and gets one when the merchant is friendly again."""
    place = secluded(world)
    place.script(provisioning={"outcome": "turn_away", "status": case})
    visit = gateway.visit(world.attempt(resource=place.resource, user=place.user))
    _met(place)
    place.script()
    world.authorization(resource=place.resource, user=place.user)

    code_came(visit, f"sign-in while the merchant answers {case} to the gateway")


@check("REDEEM-10", cases=STATUSES)
def merchant_that_turns_the_gateway_away_leaves_nothing_to_redeem(
    gateway: Gateway, world: World, case: int
) -> None:
    """Redemption answers 404, as where the merchant did not vouch for the user; later it works."""
    alone = secluded(world)
    alone.script(provisioning={"outcome": "turn_away", "status": case})
    agent, proxy_token = world.agent(), alone.proxy_token()
    grant = alone.grant(agent)
    _met(alone)

    answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)

    alone.script()
    require(world.redeem(alone.grant(agent), proxy_token, not_yet=(404, 410))).status(200)
    expect(answer).status(404)


def _met(alone: Seclusion) -> None:
    try:
        alone.require_outcome("turn_away")
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
