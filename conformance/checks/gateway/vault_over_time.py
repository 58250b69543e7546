"""Merchant tokens in the vault, after many refreshes and after many hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateproof.conformance.checks.gateway._reauthentication_scripts import REAUTHENTICATION_SCRIPTS
from gateproof.conformance.checks.gateway._refreshed_tokens import refresh_or_leave_out
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    expect_orders,
    isolated_user,
    let_expire,
    needing_reauthorization,
    redeem_past,
    require_renewed,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange

SPARE_S = 120
LONGER_S, LONG_LIFE_S, HOUR_S = 600, 36_000, 3600
NEW, NONE, SAME = {"rotate_refresh_tokens": True}, {"omit_refresh_token_on_refresh": True}, dict[str, bool]()
# What the merchant does with a used refresh token at each refresh.
MANY: Mapping[str, Sequence[dict[str, bool]]] = {
    "a-new-refresh-token-each-time": (NEW,) * 8,
    "by-turns-a-new-one-and-none": (NEW, NONE, NEW, NEW, NONE, SAME, NEW, NEW),
}
# Longer than the interval of a daily cleanup.
AFTERWARDS_S = 36 * 3600
# Hours, but not a day: the specification does not say how long an unused merchant token is kept.
SOME_HOURS_S = 5 * 3600
REFRESH_EXPIRED = "the agent's refresh token has expired by then"


@check("VAULT-01", needs=["control:advance_clock"], alone=True, cases=MANY)
def eighth_refresh_works_like_the_first(world: World, case: Sequence[dict[str, bool]]) -> None:
    """After each of eight expiries in a row, redemption returns a new merchant token that works."""
    due = _due(world)
    for answers in case:
        due.alone.short_lived(**answers)
        due = _renewed_if_short(world, due)
        let_expire(world)

        due = _refreshed(world, due)


@check("VAULT-01", needs=["control:advance_clock"], alone=True)
def shorter_life_after_a_refresh_counts(world: World) -> None:
    """If a refresh returns a merchant token with a shorter lifetime, it is refreshed after that lifetime."""
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=LONGER_S)
    grant = alone.grant()
    first = world.backend.require_redeemed(grant, alone.proxy_token())
    alone.short_lived()
    world.clock.advance(LONGER_S + 1)
    due = _renewed_if_short(world, _Due(alone=alone, grant=grant, answer=first))
    answer = redeem_past(world, due.grant, alone.proxy_token(), due.token)
    require_renewed(answer, due.token)
    due = _renewed_if_short(world, replace(due, answer=answer))
    let_expire(world)

    _refreshed(world, due)


@check("VAULT-01", needs=["control:advance_clock"], alone=True)
def shorter_life_after_a_new_sign_in_counts(world: World) -> None:
    """If a second sign-in gives a merchant token with a shorter lifetime, it is refreshed after that."""
    alone, agent = isolated_user(world), world.agents.new()
    alone.script(access_token_lifetime_s=LONG_LIFE_S)
    first = world.backend.require_redeemed(alone.grant(agent), alone.proxy_token())
    alone.short_lived()
    grant = alone.grant(agent)
    second = world.backend.require_redeemed(grant, alone.proxy_token())
    if second.member("access_token") == first.member("access_token"):
        raise LeftOut("a second sign-in does not replace a merchant token that is still good")
    due = _renewed_if_short(world, _Due(alone=alone, grant=grant, answer=second))
    let_expire(world)

    _refreshed(world, due)


@check("VAULT-01", needs=["control:advance_clock"], alone=True)
def token_that_expired_hours_ago_is_refreshed(world: World) -> None:
    """Some hours after the expiry, redemption still returns a new merchant token that works.

    The agent has refreshed its access token, if the first one has expired by then.
    """
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=HOUR_S)
    grant = alone.grant()
    first = world.backend.require_redeemed(grant, alone.proxy_token())
    world.clock.advance(HOUR_S + SOME_HOURS_S)
    due = _renewed_if_short(world, _Due(alone=alone, grant=grant, answer=first))

    _refreshed(world, due)


@check("VAULT-03", needs=["control:advance_clock"], alone=True)
def rejection_is_not_forgotten_the_day_after(world: World) -> None:
    """A day and a half after a rejected refresh, redemption still returns no merchant token.

    The vault may have deleted the unusable tokens by then, so 404 is allowed as well as 410.
    """
    _still_needs_reauthentication(world, REAUTHENTICATION_SCRIPTS["refresh-rejected"])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Due:
    """A user whose merchant token expires soon, and the redemption that gave it."""

    alone: IsolatedUser
    grant: Grant
    answer: Exchange

    @property
    def token(self) -> str:
        return str(self.answer.member("access_token"))


def _due(world: World) -> _Due:
    alone = isolated_user(world)
    alone.short_lived()
    grant = alone.grant()
    return _Due(alone=alone, grant=grant, answer=world.backend.require_redeemed(grant, alone.proxy_token()))


def _renewed_if_short(world: World, due: _Due) -> _Due:
    """Refreshes the agent's access token if it expires before the merchant token's next expiry."""
    exp = world.jwt(due.grant.access_token, "gateway access token").claims.get("exp")
    if not isinstance(exp, int | float) or exp > world.clock.target_time(due.answer) + SPARE_S:
        return due
    return replace(due, grant=refresh_or_leave_out(world, due.grant, REFRESH_EXPIRED))


def _refreshed(world: World, due: _Due) -> _Due:
    """Expects that redemption returns another merchant token than before, and that it works."""
    answer = redeem_past(world, due.grant, due.alone.proxy_token(), due.token)
    expect(answer).status(200)
    token = expect.text(answer.member("access_token"), "access_token of the redemption")
    expect.that(
        token != due.token, "merchant token past its expiry", expected="a new one", got="the expired one"
    )
    expect_orders(due.alone, token)
    return replace(due, answer=answer)


def _still_needs_reauthentication(world: World, lost: dict[str, Any]) -> None:
    alone = isolated_user(world)
    _, grant, _ = needing_reauthorization(alone, world.agents.new(), **lost)
    world.clock.advance(AFTERWARDS_S)
    grant = refresh_or_leave_out(world, grant, REFRESH_EXPIRED)
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())

    answer = world.backend.redeem_once_provisioned(grant, alone.proxy_token(), not_yet=())

    expect(answer).status(410, 404)
    expect(answer).not_granted("the merchant token", "access_token")
