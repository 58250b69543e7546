"""`expires_at` in redemptions, compared with the expiry of the merchant token."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime

from gateproof.conformance.checks.gateway._timestamps import is_timestamp_or_absent
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    isolated_user,
    let_expire,
    redeem_past,
    require_renewed,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange

TOLERANCE_S = 60
# How much an expiry may vary from answer to answer while the token is the same.
ROUNDED_S = 5
# A merchant token that lives this long is far from its expiry after two steps.
LONG_S, STEP_S = 7200, 300
A_MINUTE_S, HOUR_S = 60, 3600
TIMES = 5


@check(
    "REDEEM-16",
    cases={
        "a-minute": A_MINUTE_S,
        "quarter-of-an-hour": 900,
        "an-hour": 3600,
        "two-hours": 7200,
        "more-than-a-day": 90_000,
        "thirty-days": 30 * 86_400,
    },
)
def expires_at_is_when_the_merchants_token_expires(world: World, case: int) -> None:
    """`expires_at`, if present, is the expiry that the merchant stated, for several lifetimes."""
    answer = _redeemed_for(world, case)
    if case == A_MINUTE_S and answer.status == 410:
        raise LeftOut("a merchant token that lives for a minute is always near its expiry here")

    _expires_as_the_merchant_says(world, require(answer).status(200))


@check("REDEEM-16")
def expires_at_is_right_before_and_after_noon(world: World) -> None:
    """`expires_at` is right for two expiries twelve hours apart: a gateway may write the hour as 01 to 12."""
    for life_s in (HOUR_S, 13 * HOUR_S):
        _expires_as_the_merchant_says(world, require(_redeemed_for(world, life_s)).status(200))


@check("REDEEM-16")
def expires_at_stays_from_redemption_to_redemption(world: World) -> None:
    """`expires_at` is the same in several redemptions, as long as the gateway requests no new token."""
    alone, grant, first = _redeemed_for_long(world)
    since = alone.merchant.last_received()
    for _ in range(TIMES):
        answer = world.backend.require_redeemed(grant, alone.proxy_token())
        _is_still_the_same(alone, since, first, answer)


@check("REDEEM-16", needs=["control:advance_clock"])
def expires_at_stays_while_time_passes(world: World) -> None:
    """`expires_at` is the same minutes later, as long as the gateway requests no new token."""
    alone, grant, first = _redeemed_for_long(world)
    since, step = alone.merchant.last_received(), min(STEP_S, int(world.token_life_s() / 4))
    for _ in range(2):
        world.clock.advance(step)
        answer = world.backend.require_redeemed(grant, alone.proxy_token())
        _is_still_the_same(alone, since, first, answer)


@check("REDEEM-02", needs=["merchant"], alone=True)
def expires_at_is_a_timestamp_after_a_refresh(world: World) -> None:
    """After a refresh `expires_at` is an RFC 3339 timestamp or absent."""
    is_timestamp_or_absent(_refreshed(world))


@check("REDEEM-16", alone=True)
def expires_at_moves_with_a_refresh(world: World) -> None:
    """After a refresh `expires_at` is the expiry of the new merchant token."""
    _expires_as_the_merchant_says(world, _refreshed(world))


@check("REDEEM-16", alone=True)
def expires_at_moves_with_every_refresh(world: World) -> None:
    """After a second refresh `expires_at` is the expiry of the newest merchant token."""
    _expires_as_the_merchant_says(world, _refreshed(world, times=2))


def _refreshed(world: World, *, times: int = 1) -> Exchange:
    """Redeems past the expiry; the last redemption returns a new merchant token that lives for two hours."""
    alone = isolated_user(world)
    alone.short_lived()
    grant, proxy_token = alone.grant(), alone.proxy_token()
    answer = world.backend.require_redeemed(grant, proxy_token)
    for turn in range(times):
        if turn == times - 1:
            alone.script(access_token_lifetime_s=7200)
        let_expire(world)
        expired = answer.member("access_token")
        answer = redeem_past(world, grant, proxy_token, expired)
        require_renewed(answer, expired)
    return answer


def _redeemed_for_long(world: World) -> tuple[IsolatedUser, Grant, Exchange]:
    """A user's first redemption, of a merchant token that is far from its expiry."""
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=LONG_S)
    grant = alone.grant()
    return alone, grant, world.backend.require_redeemed(grant, alone.proxy_token())


def _is_still_the_same(alone: IsolatedUser, since: int, first: Exchange, answer: Exchange) -> None:
    """The expiry is that of the first answer, unless the merchant issued another token meanwhile."""
    if any(entry.grant and entry.ordinal > since for entry in alone.journal()):
        raise LeftOut("the gateway requested another merchant token meanwhile")
    before, now = first.member("expires_at"), answer.member("expires_at")
    if before is None or now is None:
        expect.that(True, "expires_at", expected="absent, or as before", got="absent")
        return
    moments = [moment.timestamp() for moment in map(_time_in, (before, now))]
    expect.that(
        abs(moments[1] - moments[0]) <= ROUNDED_S,
        "expires_at of a merchant token that was not refreshed",
        expected=f"{before}, give or take {ROUNDED_S} s",
        got=now,
    )


def _redeemed_for(world: World, life_s: int) -> Exchange:
    """The redemption of a user whose merchant token lives so long."""
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=life_s)
    return world.backend.redeem_after_backoff(alone.grant(), alone.proxy_token())


def _expires_as_the_merchant_says(world: World, answer: Exchange) -> None:
    said = answer.member("expires_at")
    if said is None:
        expect.that(
            True, "expires_at", expected="absent, or the expiry that the merchant stated", got="absent"
        )
        return
    token = require.text(answer.member("access_token"), "access_token of the redemption")
    known = world.merchant.lookup(token) if world.merchant is not None else None
    require.that(
        known is not None and known.expires_at is not None,
        "merchant token",
        expected="one that the merchant issued",
        got="another",
    )
    meant = (known.expires_at or 0) if known is not None else 0
    moment = _time_in(said).timestamp()
    # The gateway may calculate with its own clock, which was moved, or read the date from the token.
    moved = world.clock.target_time(answer) - time.time()
    expect.that(
        min(abs(moment - meant), abs(moment - meant - moved)) <= TOLERANCE_S,
        "expires_at",
        expected=f"{datetime.fromtimestamp(meant + moved).astimezone().isoformat()}, give or take a minute",
        got=said,
    )


def _time_in(said: object) -> datetime:
    """The time of an RFC 3339 timestamp; REDEEM-02 judges other formats."""
    moment: datetime | None = None
    with suppress(ValueError):
        moment = datetime.fromisoformat(str(said).upper().replace(":60", ":59"))
    good = moment is not None and moment.tzinfo is not None
    require.that(good, "expires_at", expected="an RFC 3339 timestamp", got=said)
    assert moment is not None  # noqa: S101 - required above
    return moment
