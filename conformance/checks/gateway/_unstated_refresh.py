"""Redemptions after a refresh for which the merchant stated no `expires_in`."""

from __future__ import annotations

from gateproof.conformance.checks.gateway.redeem_no_lifetime import UNSTATED
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    isolated_user,
    let_expire,
    redeem_past,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Exchange

TIMES, LONG_LIFE_S = 2, 36_000
# Between the redemptions: more than clocks may differ, and less than usual lives.
PAUSE_S = 240


def refreshed_without_a_life(world: World) -> tuple[IsolatedUser, object, list[Exchange]]:
    """A user, the expired merchant token, and redemptions after refreshes without a stated lifetime.

    Raises LeftOut for a gateway that takes an answer without `expires_in` for none: the member is only
    recommended, but nothing says what a gateway has to do without it.
    """
    alone = isolated_user(world, own=True)
    alone.short_lived()
    grant, proxy_token = alone.grant(), alone.proxy_token()
    expired = world.backend.require_redeemed(grant, proxy_token).member("access_token")
    # A gateway that assumes an hour may return the refreshed token for as long.
    alone.script(refresh=UNSTATED, access_token_lifetime_s=LONG_LIFE_S)
    let_expire(world)
    answers: list[Exchange] = []
    for _ in range(TIMES):
        answer = redeem_past(world, grant, proxy_token, str(expired))
        require_unexpired(world, grant, answer)
        if answer.status not in (200, None) and not answers:
            raise LeftOut("the gateway takes no answer to a refresh that lacks expires_in")
        answers.append(answer)
        if world.clock.can_move() and len(answers) < TIMES:
            world.clock.advance(PAUSE_S)
    return alone, expired, answers
