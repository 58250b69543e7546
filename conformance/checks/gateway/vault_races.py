"""Concurrent redemptions of an expired merchant token, with single-use refresh tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateproof.conformance.checks.gateway._same_indicator import at
from gateproof.conformance.checks.gateway._second_project import grant_at
from gateproof.conformance.kit.gateway import concurrent, console
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    expect_orders,
    isolated_user,
    let_expire,
    redeem_past,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.races import FEW, Races
from gateproof.conformance.suite.time_limits import RACE_HOLD_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# One burst misses a short race window half of the time; each burst is at its own expiry.
STAMPEDES = 2
# Longer than a short lock lasts, and shorter than gateways usually wait for a merchant.
SLOW_S = 2.5


@check("VAULT-07", alone=True, rounds=4, waits_s=2.5)
def stampede_costs_nobody_the_token(world: World, races: Races) -> None:
    """Concurrent redemptions of an expired merchant token get no 410.

    The merchant accepts each refresh token once, ends the grant if one comes twice, and delays its answers
    until as many requests have arrived as there are redemptions. In every other round the tokens belong to
    two agents of one user. While a refresh is under way, other redemptions may get any answer except 410;
    after the next expiry the vault works.
    """
    for number, _ in enumerate(races.each(at_most=None if world.clock.can_move() else 1), races.first):
        alone = isolated_user(world, own=True)
        alone.short_lived(rotate_refresh_tokens=True)
        grants = [alone.grant(world.agents.new()) for _ in range(2 - number % 2)]
        proxy_token = alone.proxy_token()
        seen = [[world.backend.require_redeemed(grant, proxy_token)] for grant in grants]
        asked = len(alone.asked("refresh_token"))

        for _ in range(STAMPEDES):
            let_expire(world)
            answers = _concurrent_redemptions(alone, grants, proxy_token, races.racers)
            gone = sum(answer.status == 410 for answer in answers)
            expect.that(
                not gone,
                f"{len(answers)} redemptions at one moment, past the expiry of a refreshable merchant token",
                expected="410 for none",
                got=f"410 for {gone}",
            )
            for place in range(len(grants)):
                seen[place] += answers[place :: len(grants)]
            if not all(answer.answer for answer in answers):
                # Another burst would wait in vain, too; the effect of this one shows at the next expiry.
                break
        refreshed = len(alone.asked("refresh_token")) > asked
        alone.short_lived(rotate_refresh_tokens=True)
        let_expire(world)
        for grant, redeemed in zip(grants, seen, strict=True):
            _works_at_the_next_expiry(alone, grant, proxy_token, redeemed)
        if not refreshed:
            raise LeftOut("no burst of concurrent redemptions made the gateway refresh")


@check("VAULT-07", alone=True, rounds=2, waits_s=5)
def refresh_that_takes_seconds_is_made_once(world: World, races: Races) -> None:
    """Concurrent redemptions get no 410 while the merchant takes seconds for a refresh.

    If a lock expires too early, a second refresh with the same token ends the grant, which may show only at
    the next expiry. A user who redeems alone shows whether the gateway waits that long without repeating its
    request.
    """
    for _ in races.each():
        _one_slow_refresh(world)


@check("VAULT-07", needs=["control:create_resource"], alone=True, rounds=4, waits_s=2.5)
def refreshes_at_two_resources_at_once_keep_both_tokens(world: World, races: Races) -> None:
    """A user's merchant tokens at two Resources, refreshed concurrently, both work past the next expiry.

    The merchant accepts each refresh token once, and delays its answers until it has both requests.
    """
    for _ in races.each(at_most=None if world.clock.can_move() else 1):
        places = _one_user_at_two_resources(world)
        for place in places:
            place.short_lived(rotate_refresh_tokens=True)
        agent = world.agents.new()
        turns = [
            (grant_at(world, agent, place.resource, place.user), place.proxy_token()) for place in places
        ]
        first = [world.backend.require_redeemed(*turn) for turn in turns]
        asked = [len(place.asked("refresh_token")) for place in places]
        let_expire(world)
        hold = {"outcome": "hold", "gate": world.unique(), "parties": len(places), "seconds": RACE_HOLD_S}
        for place in places:
            place.short_lived(rotate_refresh_tokens=True, refresh=hold)
        answers = concurrent.redemptions(world.gateway, turns)
        for place, (grant, _), answer in zip(places, turns, answers, strict=True):
            require_unexpired(world, grant, answer)
            expect.that(
                answer.status != 410,
                f"redemption at {grant.resource.indicator}, with one of the same user at another Resource",
                expected="any answer but 410",
                got="410",
                exchange=answer,
            )
            place.short_lived(rotate_refresh_tokens=True)
        if any(
            len(place.asked("refresh_token")) == before for place, before in zip(places, asked, strict=True)
        ):
            raise LeftOut("the redemptions at once did not make the gateway refresh both merchant tokens")
        let_expire(world)
        for place, turn, *seen in zip(places, turns, first, answers, strict=True):
            _works_at_the_next_expiry(place, *turn, seen)


@check("VAULT-01", alone=True, rounds=4, waits_s=1.5)
def nobody_of_many_gets_the_expired_token(world: World, races: Races) -> None:
    """Concurrent redemptions of an expired merchant token never return the expired token.

    The merchant delays the refresh. Redemptions that did not start it may get any other answer.
    """
    if not world.clock.can_move():
        raise LeftOut("clocks differ slightly, so a token may have expired for one side only")
    for _ in races.each():
        alone = isolated_user(world, own=True)
        alone.short_lived(rotate_refresh_tokens=True)
        grant, proxy_token = alone.grant(), alone.proxy_token()
        expired = world.backend.require_redeemed(grant, proxy_token).member("access_token")
        let_expire(world)
        answers = _concurrent_redemptions(alone, [grant], proxy_token, races.racers)
        given = [answer.member("access_token") for answer in answers if answer.status == 200]
        if not given:
            raise LeftOut("none of the concurrent redemptions returned a token")

        expect.that(
            expired not in given,
            f"{len(answers)} redemptions at one moment, past the expiry of a merchant token",
            expected="no merchant token that has expired",
            got=f"the expired one for {given.count(expired)}",
        )


def _one_user_at_two_resources(world: World) -> tuple[IsolatedUser, IsolatedUser]:
    """A user of their own at two Resources of one Project, of the same merchant."""
    first = isolated_user(world, own=True)
    resource = console.resource_in(world, first.project, f"https://api.merchant.example/{world.unique()}")
    if resource.merchant_client_id is None:
        raise LeftOut("create_resource does not say under which client ID the merchant knows the Resource")
    return first, at(first, replace(first.project, resource=resource))


def _one_slow_refresh(world: World) -> None:
    """One user redeems alone and one in a burst past an expiry; the second also past the next one."""
    lone_user, burst_user = isolated_user(world, own=True), isolated_user(world, own=True)
    turns, first = [], []
    for place in (lone_user, burst_user):
        place.short_lived(rotate_refresh_tokens=True)
        turns.append((place.grant(), place.proxy_token()))
        first.append(world.backend.require_redeemed(*turns[-1]))
    asked = len(lone_user.asked("refresh_token"))
    let_expire(world)
    for place in (lone_user, burst_user):
        place.short_lived(rotate_refresh_tokens=True, refresh={"outcome": "slow", "seconds": SLOW_S})
    asking = [turns[0], *[turns[1]] * FEW]
    single_answer, *answers = concurrent.redemptions(world.gateway, asking)
    for (grant, _), answer in zip(asking, (single_answer, *answers), strict=True):
        require_unexpired(world, grant, answer)
    if single_answer.status != 200 or len(lone_user.asked("refresh_token")) != asked + 1:
        raise LeftOut(f"the gateway does not wait {SLOW_S} s for one answer of its merchant")

    gone = sum(answer.status == 410 for answer in answers)
    expect.that(
        not gone,
        f"{len(answers)} redemptions at one moment, of a token whose refresh takes {SLOW_S} s",
        expected="410 for none",
        got=f"410 for {gone}",
    )
    burst_user.short_lived(rotate_refresh_tokens=True)
    let_expire(world)
    _works_at_the_next_expiry(burst_user, *turns[1], [first[1], *answers])


def _concurrent_redemptions(
    alone: IsolatedUser, grants: Sequence[Grant], proxy_token: Secret, racers: int
) -> tuple[Exchange, ...]:
    """All racers redeem, and the merchant delays the refresh."""
    world = alone.world
    hold = {"outcome": "hold", "gate": world.unique(), "parties": racers, "seconds": RACE_HOLD_S}
    alone.short_lived(rotate_refresh_tokens=True, refresh=hold)
    asked = len(alone.asked("refresh_token"))
    turns = [(grants[number % len(grants)], proxy_token) for number in range(racers)]
    answers = concurrent.redemptions(world.gateway, turns)
    for (grant, _), answer in zip(turns, answers, strict=True):
        require_unexpired(world, grant, answer)
    if len(alone.asked("refresh_token")) == asked and any(answer.status == 200 for answer in answers):
        raise LeftOut("the gateway requested no refresh, although the merchant token had expired")
    return answers


def _works_at_the_next_expiry(
    alone: IsolatedUser, grant: Grant, proxy_token: Secret, seen: Sequence[Exchange]
) -> None:
    """The grant redeems again, and the token is new and works."""
    old = [each.member("access_token") for each in seen if each.status == 200]
    answer = redeem_past(alone.world, grant, proxy_token, old[-1])
    require_unexpired(alone.world, grant, answer)
    expect(answer).status(200)
    token = expect.text(answer.member("access_token"), "access_token of the redemption")
    expect.that(
        token not in old,
        "merchant token past its next expiry, after the stampede",
        expected="a new one",
        got="one that has expired",
    )
    expect_orders(alone, token)
