"""Merchant tokens that expire in real time; other checks move the target's clock.

A store may expire its entries by its own clock, which does not follow the gateway's.
"""

from __future__ import annotations

from gateproof.conformance.kit.gateway.isolated_user import (
    LATE_S,
    expect_orders,
    expect_renewed,
    isolated_user,
    redeem_past_real_time,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.pauses import Cause, wait_for

# A store that counts in whole seconds may keep an entry for one second longer.
LIFE_S, PASSED_S = 2, 3.5
HOUR_S = 3600


@check("VAULT-01", needs=["control:advance_clock"], alone=True, waits_s=3.5)
def token_that_really_expired_is_refreshed(world: World) -> None:
    """After a merchant token expired in real time, redemption returns a new one that works.

    The first merchant token lives for two seconds; the clock is not moved.
    """
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=LIFE_S)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = world.backend.require_redeemed(grant, proxy_token)
    token = require.text(first.member("access_token"), "access_token of the redemption")
    alone.script(access_token_lifetime_s=HOUR_S)
    wait_for(Cause.EXPIRY, PASSED_S)

    answer = redeem_past_real_time(world, grant, proxy_token, token, within_s=LATE_S)

    require_unexpired(world, grant, answer)
    expect_renewed(answer, token)
    expect_orders(alone, expect.text(answer.member("access_token"), "access_token of the redemption"))
