"""Used codes, long after their use: what a gateway remembers of a code has to outlive the code."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import no_tokens, used_code
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

# Usual times after which used codes are cleared away.
HOURS_LATER_S = (660, 1900, 3700, 6 * 3600)
SHORTEST_LIFE_S, LONGEST_WAIT_S = 120, 2700


@check("CODE-02", needs=["control:advance_clock"])
def code_works_only_once_hours_later(world: World) -> None:
    """A used code is refused from eleven minutes to six hours after its use."""
    world = world.in_one_browser()
    # A code for each time: a second use may end everything of the first one.
    used = [used_code(world) for _ in HOURS_LATER_S]

    gone_s = 0
    for authorization, later_s in zip(used, HOURS_LATER_S, strict=True):
        world.clock.advance(later_s - gone_s)
        gone_s = later_s
        no_tokens(world.gateway.exchange(authorization), "a code used hours before")


@check("CODE-12", needs=["control:advance_clock"])
def second_use_ends_redemption_for_good(gateway: Gateway, world: World) -> None:
    """After a code is used again, the access token of its first use redeems nothing later in its life either.

    The token of another agent, whose code came once, still redeems then.
    """
    attempt = world.attempt()
    authorization = world.code_for(attempt)
    grant, twin = world.grant_of(authorization, attempt), world.grant()
    for each in (grant, twin):
        world.backend.require_redeemed(each, world.backend.proxy_token())
    life_s = min(world.clock.life_s(each.access_token, each.answer) for each in (grant, twin))
    if life_s < SHORTEST_LIFE_S:
        raise LeftOut("access tokens live for less than two minutes")
    require(gateway.exchange(authorization)).refused()
    indicator = grant.resource.indicator
    require(gateway.redeem(grant.access_token, world.backend.proxy_token(), indicator)).refused()
    world.clock.advance(min(0.75 * life_s, LONGEST_WAIT_S))
    world.backend.require_redeemed(twin, world.backend.proxy_token())

    answer = gateway.redeem(grant.access_token, world.backend.proxy_token(), indicator)
    expect(answer).not_granted("a merchant token", "access_token")
