"""The lifetime of a merchant token in the gateway's vault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gateproof.conformance.checks.gateway._long_tokens import LONG_TOKEN
from gateproof.conformance.checks.gateway._reauthentication_scripts import REAUTHENTICATION_SCRIPTS
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    before_expiry,
    expect_orders,
    expect_renewed,
    isolated_user,
    let_expire,
    needing_reauthorization,
    redeem_past,
    require_renewed,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

CODE = "reauthentication_required"
REFRESH = "refresh_token"
# What the merchant does with a used refresh token; all are allowed (RFC 6749 section 6).
REFRESH_ANSWERS: Mapping[str, dict[str, Any]] = {
    "the-same-refresh-token": {},
    "no-refresh-token": {"omit_refresh_token_on_refresh": True},
    "a-new-refresh-token": {"rotate_refresh_tokens": True},
    "long-tokens": {"rotate_refresh_tokens": True, "shortest_token": LONG_TOKEN},
}
LONG_LIFE_S, HOUR_S, SPARE_S = 36_000, 3600, 60
# Within the first tenth of the life, and not longer than a gateway access token lives.
WHILES: Mapping[str, tuple[int, int]] = {
    "a-quarter-of-an-hour-into-ten": (LONG_LIFE_S, 900),
    "five-minutes-into-one": (HOUR_S, 300),
}
# Most merchants give an hour, which some gateways already treat as close to expiry.
LIVES: Mapping[str, int] = {"ten-hours": LONG_LIFE_S, "one-hour": HOUR_S, "thirty-days": 30 * 86_400}


@check("VAULT-01", alone=True, cases=REFRESH_ANSWERS)
def expired_token_is_refreshed_again_and_again(world: World, case: dict[str, Any]) -> None:
    """After each of two expiries, redemption returns a new merchant token that works."""
    alone = isolated_user(world)
    alone.short_lived(**case)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    token = world.backend.require_redeemed(grant, proxy_token).member("access_token")
    for _ in range(2):
        let_expire(world)
        answer = redeem_past(world, grant, proxy_token, token)
        require_unexpired(world, grant, answer)

        expect_renewed(answer, token)
        token = expect.text(answer.member("access_token"), "access_token of the redemption")
        expect_orders(alone, token)


@check("VAULT-02", alone=True)
def expired_without_a_refresh_token_answers_410(world: World) -> None:
    """Redemption of an expired merchant token without a refresh token gets 410 reauthentication_required.

    Another user's token, which came with a refresh token and expired at the same time, is refreshed.
    """
    answers, _ = _expired(world, REAUTHENTICATION_SCRIPTS["no-refresh-token"])

    _need_reauthentication(answers)


@check("VAULT-03", alone=True)
def rejected_refresh_answers_410(world: World) -> None:
    """After the merchant rejects the refresh token, redemption gets 410 reauthentication_required."""
    answers, alone = _expired(world, REAUTHENTICATION_SCRIPTS["refresh-rejected"])

    _need_reauthentication(answers)
    require.that(
        any(entry.outcome == "reject" for entry in alone.asked(REFRESH)),
        "journal of the fake merchant",
        expected="a refresh that it rejected",
        got="none",
    )


@check("VAULT-03", alone=True)
def rejected_refresh_is_not_forgotten(gateway: Gateway, world: World) -> None:
    """After a rejected refresh, every further redemption gets 410, and never the expired token."""
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    proxy_token, grant, _ = needing_reauthorization(isolated_user(world), refresh="reject")

    again = [gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator) for _ in range(2)]
    for answer in again:
        expect(answer).not_granted("the merchant token", "access_token")
    _need_reauthentication(again)


@check("VAULT-05", cases=LIVES)
def far_from_expiry_nothing_is_refreshed(world: World, case: int) -> None:
    """A merchant token far from its expiry is returned unchanged, without a refresh."""
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=case)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = world.backend.require_redeemed(grant, proxy_token)

    _returned_as_it_is(world, alone, grant, proxy_token, first)


@check("VAULT-05")
def long_lived_token_without_a_refresh_token_is_returned(world: World) -> None:
    """A merchant token far from its expiry is returned although it came without a refresh token."""
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=LONG_LIFE_S, issue_refresh_token=False)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = world.backend.redeem_after_backoff(grant, proxy_token)
    require.step_of("redemption")(first).status(200, 410)
    expect(first).status(200)

    _returned_as_it_is(world, alone, grant, proxy_token, first)


@check("VAULT-05", needs=["control:advance_clock"], cases=WHILES)
def a_while_later_nothing_is_refreshed_either(world: World, case: tuple[int, int]) -> None:
    """Some minutes after a sign-in, the cached long-lived merchant token is returned without a refresh."""
    life_s, later_s = case
    later_s = round(min(later_s, world.token_life_s() - SPARE_S))
    if later_s < SPARE_S:
        raise LeftOut("the gateway access token does not live long enough for this")
    alone = isolated_user(world)
    alone.script(access_token_lifetime_s=life_s)
    grant = alone.grant()
    first = world.backend.require_redeemed(grant, alone.proxy_token())
    world.clock.advance(later_s)

    _returned_as_it_is(world, alone, grant, alone.proxy_token(), first)


@check("VAULT-05", alone=True)
def refreshed_token_is_far_from_expiry_again(world: World) -> None:
    """A refreshed merchant token is returned unchanged afterwards: its new expiry counts."""
    alone = isolated_user(world)
    alone.short_lived()
    grant, proxy_token = alone.grant(), alone.proxy_token()
    before = world.backend.require_redeemed(grant, proxy_token).member("access_token")
    alone.script(access_token_lifetime_s=LONG_LIFE_S)
    let_expire(world)
    first = redeem_past(world, grant, proxy_token, before)
    require_unexpired(world, grant, first)
    require_renewed(first, before)

    _returned_as_it_is(world, alone, grant, proxy_token, first, refreshed=len(alone.asked(REFRESH)))


@check("VAULT-05", alone=True)
def token_of_a_new_sign_in_is_far_from_expiry_again(world: World) -> None:
    """The merchant token from a sign-in after a 410 is returned unchanged: its new expiry counts."""
    alone, agent = isolated_user(world), world.agents.new()
    proxy_token, _, _ = needing_reauthorization(alone, agent, refresh="reject")
    alone.script(access_token_lifetime_s=LONG_LIFE_S)
    renewed = alone.grant(agent)
    refreshed = len(alone.asked(REFRESH))
    first = world.backend.redeem_after_backoff(renewed, proxy_token, not_yet=(404, 410))
    require.step_of("redemption after a new sign-in")(first).status(200)

    _returned_as_it_is(world, alone, renewed, proxy_token, first, refreshed=refreshed, not_yet=(404, 410))


def _expired(world: World, script: dict[str, Any]) -> tuple[list[Exchange], IsolatedUser]:
    """Two redemptions after an expiry under this script; another user's token, without it, is refreshed."""
    losing, twin = isolated_user(world), isolated_user(world)
    losing.short_lived(**script)
    twin.short_lived()
    grants = [one.grant() for one in (losing, twin)]
    proxy_tokens = [one.proxy_token() for one in (losing, twin)]
    stale = before_expiry(world.backend.redeem_after_backoff(grants[0], proxy_tokens[0]))
    token = world.backend.require_redeemed(grants[1], proxy_tokens[1]).member("access_token")
    let_expire(world)
    require_renewed(redeem_past(world, grants[1], proxy_tokens[1], token), token)
    first = redeem_past(world, grants[0], proxy_tokens[0], stale)
    return [first, world.backend.redeem_once_provisioned(grants[0], proxy_tokens[0], not_yet=())], losing


def _need_reauthentication(answers: list[Exchange]) -> None:
    """Expects 410 with reauthentication_required from each redemption."""
    for answer in answers:
        expect(answer).status(410)
        text = answer.answer.text() if answer.answer is not None else ""
        expect.that(CODE in text, "body of the 410", expected=f"{CODE} in some field", got=text)


def _returned_as_it_is(
    world: World,
    alone: IsolatedUser,
    grant: Grant,
    proxy_token: Secret,
    first: Exchange,
    *,
    refreshed: int = 0,
    not_yet: Collection[int] = (404,),
) -> None:
    """Expects the same token from two more redemptions, without a refresh."""
    for _ in range(2):
        answer = world.backend.redeem_once_provisioned(grant, proxy_token, not_yet=not_yet)
        require_unexpired(world, grant, answer)
        expect(answer).status(200)
        expect.that(
            answer.member("access_token") == first.member("access_token"),
            "merchant token far from its expiry",
            expected="the cached one",
            got="another",
        )
    more = len(alone.asked(REFRESH)) - refreshed
    expect.that(
        not more,
        "journal of the fake merchant",
        expected="no refresh of a token that is far from its expiry",
        got=f"{more} of them",
    )
