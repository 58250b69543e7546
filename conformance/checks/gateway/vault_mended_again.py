"""After a new authorization, the merchant token is refreshed like any other."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.checks.gateway._reauthentication_scripts import REAUTHENTICATION_SCRIPTS
from gateproof.conformance.kit.gateway.isolated_user import (
    expect_orders,
    expect_renewed,
    isolated_user,
    let_expire,
    needing_reauthorization,
    redeem_past,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require, rule_requires


@check("VAULT-04", alone=True, cases=REAUTHENTICATION_SCRIPTS)
def mended_token_is_refreshed_at_its_expiry(world: World, case: dict[str, Any]) -> None:
    """After a 410 and a new authorization, redemption past the next expiry returns a new token that works.

    The merchant accepts the refresh token that it gave with the new authorization, and no older one.
    """
    alone, agent = isolated_user(world), world.agents.new()
    proxy_token, _, _ = needing_reauthorization(alone, agent, **case)
    alone.short_lived()
    with rule_requires():
        renewed = alone.grant(agent)
    first = world.backend.redeem_after_backoff(renewed, proxy_token, not_yet=(404, 410))
    step = require.step_of("redemption after a new sign-in")
    token = step.text(step(first).status(200).member("access_token"), "access_token of the redemption")
    # Another process of the gateway may still remember the 410.
    for _ in range(2):
        world.backend.redeem_once_provisioned(renewed, proxy_token, not_yet=(404, 410))
    let_expire(world)

    answer = redeem_past(world, renewed, proxy_token, token)

    require_unexpired(world, renewed, answer)
    expect_renewed(answer, token)
    expect_orders(alone, expect.text(answer.member("access_token"), "access_token of the redemption"))
