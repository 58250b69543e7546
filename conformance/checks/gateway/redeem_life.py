"""How often, and how long, one gateway access token redeems."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._refreshed_tokens import refresh_after_expiry
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, TimesUnclear, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange

# More uses than any sensible limit, and how many of them use the same Proxy token.
MANY, OF_ONE_PROXY_TOKEN = 64, 16
# Seconds before the expiry: until NEAR_S a redemption must work, and at LAST_S the last one is tried.
NEAR_S, LAST_S = 10, 15
# For access tokens that live longer, the clock would move too far for other checks.
LONGEST_LIFE_S = 90 * 86_400
# Access tokens that live shorter may expire before all redemptions are sent.
SHORTEST_LIFE_S = 60
PLACES = (0.25, 0.5, 0.75)
TIMES = 3


@check("REDEEM-01")
def one_access_token_redeems_again_and_again(world: World) -> None:
    """One access token redeems 64 times, with several Proxy tokens."""
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    for number in range(MANY):
        if number % OF_ONE_PROXY_TOKEN == 0:
            proxy_token = world.backend.proxy_token()
        answer = world.backend.redeem_once_provisioned(grant, proxy_token)
        if answer.status != 200 and _left_s(world, grant, answer) < NEAR_S:
            raise LeftOut("the access token expired before it was used often")

        _gives_a_token(answer)


@check("REDEEM-01", needs=["merchant", "control:advance_clock"])
def access_token_redeems_until_shortly_before_it_expires(world: World) -> None:
    """An access token redeems until 15 s before its `exp`, with a new Proxy token each time.

    The merchant token lives longer, so that there is always one.
    """
    alone = isolated_user(world)
    life_s = world.token_life_s()
    if not SHORTEST_LIFE_S < life_s < LONGEST_LIFE_S:
        raise LeftOut("the access tokens of this gateway live too long or too short to be watched")
    alone.script(access_token_lifetime_s=int(2 * life_s) + 3600)
    grant = alone.grant()
    answer = world.backend.require_redeemed(grant, alone.proxy_token())
    whole = _left_s(world, grant, answer)
    for left in (*(whole * (1 - place) for place in PLACES), LAST_S):
        step = int(_left_s(world, grant, answer) - left)
        if step > 0:
            world.clock.advance(step)
        proxy_token = alone.proxy_token()
        for _ in range(TIMES):
            answer = world.backend.redeem_once_provisioned(grant, proxy_token)
            if answer.status != 200 and _left_s(world, grant, answer) < NEAR_S:
                raise TimesUnclear("the access token had nearly expired when it was redeemed")

            _gives_a_token(answer)


@check("REDEEM-01", needs=["merchant", "control:advance_clock"])
def access_token_of_a_late_refresh_redeems(world: World) -> None:
    """An access token from a refresh redeems, although the first one of its grant has expired.

    The merchant token lives longer, so that there is always one.
    """
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=2 * LONGEST_LIFE_S)
    first = alone.grant()
    world.backend.require_redeemed(first, alone.proxy_token())
    grant = refresh_after_expiry(world, first)
    if _left_s(world, grant, grant.answer) < NEAR_S:
        raise LeftOut("the access token of the refresh has expired, too, which is a failure of another rule")

    _gives_a_token(world.backend.redeem_once_provisioned(grant, alone.proxy_token()))


def _left_s(world: World, grant: Grant, answer: Exchange) -> float:
    """How long the access token still lives, by the target's clock at this answer."""
    exp = world.jwt(grant.access_token, "gateway access token").claims.get("exp")
    require.that(
        isinstance(exp, int | float) and not isinstance(exp, bool), "exp", expected="a number", got=exp
    )
    return float(exp or 0) - world.clock.target_time(answer)


def _gives_a_token(answer: Exchange) -> None:
    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")
