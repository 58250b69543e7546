"""Merchant tokens of a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.isolated_user import (
    LATE_S,
    expect_orders,
    isolated_user,
    redeem_past_real_time,
    require_renewed,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.pauses import Cause, wait_for

LIFE_S, HOUR_S = 2, 3600


@check("VAULT-01", needs=["restart"], waits_s=4)
def rotated_refresh_token_outlives_a_restart(world: World) -> None:
    """A merchant token that was refreshed before a restart, and has expired since, is refreshed after it.

    The merchant rotates its refresh tokens, so only the newest one works.
    """
    there = world.instance().world()
    alone = isolated_user(there)
    alone.script(access_token_lifetime_s=LIFE_S, rotate_refresh_tokens=True)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = there.backend.require_redeemed(grant, proxy_token).member("access_token")
    wait_for(Cause.EXPIRY, LIFE_S)
    second = redeem_past_real_time(there, grant, proxy_token, first, within_s=LATE_S)
    require_unexpired(there, grant, second)
    require_renewed(second, first)
    alone.script(access_token_lifetime_s=HOUR_S, rotate_refresh_tokens=True)
    kill_and_start(world)

    expired = require.text(second.member("access_token"), "access_token of the redemption")
    answer = redeem_past_real_time(there, grant, alone.proxy_token(), expired, within_s=LIFE_S + LATE_S)
    require_unexpired(there, grant, answer)
    expect(answer).status(200)
    token = expect.text(answer.member("access_token"), "access_token of the redemption")
    expect.that(
        token != expired,
        "merchant token past its expiry, after a restart",
        expected="a new one",
        got="the expired one",
        exchange=answer,
    )
    expect_orders(alone, token)
