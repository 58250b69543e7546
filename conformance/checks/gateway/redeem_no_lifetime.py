"""Redemption of a merchant token that the merchant issued without `expires_in`, which is optional."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

UNSTATED = {"outcome": "odd_lifetime", "lifetime": "missing"}
TIMES = 2
# How much clocks may differ, and how long a sign-in and two redemptions may take.
TOLERANCE_S = 60


@check("REDEEM-01", needs=["merchant"])
def merchant_token_of_an_unstated_life_redeems(world: World) -> None:
    """A merchant token issued without `expires_in` redeems twice, and is the user's own.

    A gateway may refresh such a token before each redemption, since its expiry is unknown, and may refuse it
    when the user signs in.
    """
    grant, proxy_token = _signed_in(world)
    for _ in range(TIMES):
        answer = world.backend.redeem_after_backoff(grant, proxy_token)
        expect(answer).status(200)
        expect.text(answer.member("access_token"), "access_token")
        expect_owner(world, answer, grant.user, grant.resource)


@check("REDEEM-16")
def unstated_life_has_not_ended(world: World) -> None:
    """`expires_at` of a merchant token issued without `expires_in` is absent or not in the past."""
    grant, proxy_token = _signed_in(world)

    is_not_over(world, world.backend.require_redeemed(grant, proxy_token))


def is_not_over(world: World, answer: Exchange) -> None:
    """`expires_at` of a redemption is absent or not in the past."""
    said = answer.member("expires_at")
    moment = _moment(said)
    expect.that(
        moment is None or moment >= world.clock.target_time(answer) - TOLERANCE_S,
        "expires_at of a merchant token whose life the merchant did not state",
        expected="absent, or a time that is not in the past",
        got=said,
        exchange=answer,
    )


def _signed_in(world: World) -> tuple[Grant, Secret]:
    """A user for whom the merchant has issued a token without `expires_in`, and a Proxy token.

    Another user, for whom the merchant states a lifetime, has redeemed.
    """
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    alone = isolated_user(world, own=True)
    alone.script(provisioning=UNSTATED)
    grant = alone.grant()
    try:
        alone.require_outcome(UNSTATED["outcome"])
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
    proxy_token, before = alone.proxy_token(), failure_oracle.last_of(alone)
    answer = world.backend.redeem_once_provisioned(grant, proxy_token)
    asked_again = failure_oracle.last_of(alone) > before
    if answer.status == 404 or (asked_again and (answer.status or 0) >= 500):
        raise LeftOut("the gateway takes no answer to an assertion that lacks expires_in")
    return grant, proxy_token


def _moment(said: object) -> float | None:
    """A timestamp in seconds; None if it is absent or not RFC 3339, which REDEEM-02 tests."""
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(str(said).upper().replace(":60", ":59"))
        return moment.timestamp() if moment.tzinfo is not None else None
    return None
