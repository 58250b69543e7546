"""An access token stays expired when its agent gets another one by a refresh."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._refreshed_tokens import (
    LONGEST_LIFE_S,
    refresh_after_expiry,
    refresh_or_leave_out,
)
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.time_limits import LEEWAY_S

AFTER, BEFORE = "refreshed-after-its-expiry", "refreshed-before-its-expiry"


@check("REDEEM-11", needs=["control:advance_clock"], cases=(AFTER, BEFORE))
def refresh_revives_no_expired_access_token(gateway: Gateway, world: World, case: str) -> None:
    """An expired access token is refused after a refresh, whose access token redeems."""
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    fresh = refresh_after_expiry(world, grant) if case == AFTER else _refreshed_half_way(world, grant)
    if _end(world, fresh) - _end(world, grant) <= LEEWAY_S:
        raise LeftOut("the access token of the refresh does not live longer than the one before")
    proxy_token = world.backend.proxy_token()
    world.backend.require_redeemed(fresh, proxy_token)

    answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
    expect(answer).not_granted("the merchant token", "access_token")


def _end(world: World, grant: Grant) -> float:
    exp = world.jwt(grant.access_token, "gateway access token").claims.get("exp")
    return exp if isinstance(exp, int | float) else 0.0


def _refreshed_half_way(world: World, grant: Grant) -> Grant:
    """The grant, refreshed in the middle of its access token's life, after the end of that token."""
    life_s = world.clock.life_s(grant.access_token, grant.answer)
    if not 4 * LEEWAY_S < life_s < LONGEST_LIFE_S:
        raise LeftOut("access tokens live too long or too short to wait for their end")
    world.clock.advance(round(life_s / 2))
    fresh = refresh_or_leave_out(world, grant, "a refresh is refused while the access token is valid")
    world.clock.advance(round(life_s / 2) + LEEWAY_S)
    return fresh
