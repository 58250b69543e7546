"""Merchant tokens of a target that was killed and started again."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway.isolated_user import LATE_S
from gateproof.conformance.kit.gateway.restarts import LIFE_S, after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("VAULT-01", needs=["restart"])
def rotated_refresh_token_outlives_a_restart(world: World) -> None:
    """A merchant token that was refreshed before a restart, and expired since, is refreshed after it.

    The merchant rotates refresh tokens, so only the newest one works. The positive twin is the merchant token
    of another user, which has not expired.
    """
    there, kept = after_a_restart(world)
    there.backend.require_redeemed(kept.grant, there.backend.proxy_token())
    proxy_token = there.backend.proxy_token(kept.refreshed_at)

    deadline = time.monotonic() + LIFE_S + LATE_S
    while True:
        answer = there.backend.redeem_once_provisioned(kept.refreshed, proxy_token, not_yet=())
        stale = answer.member("access_token") == kept.expired.reveal()
        if not stale or time.monotonic() > deadline:
            break
        time.sleep(0.25)
    expect(answer).status(200)
    expect.that(
        not stale,
        "merchant token past its expiry, after a restart",
        expected="a new one",
        got="the expired one",
        exchange=answer,
    )
