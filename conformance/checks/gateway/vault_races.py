"""Many redemptions of one merchant token that is due, and a merchant that takes a refresh token once."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    isolated_user,
    let_expire,
    redeem_past,
    still_good,
    works,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.races import FEW, Races
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# How long the merchant holds an answer, for others to come with the same refresh token.
HOLD_S = 0.3
# Where the window is a moment, one stampede goes by it as often as not; each is past an expiry of its own.
STAMPEDES = 2
# Longer than a short lock is held for, and shorter than a merchant is usually waited for.
SLOW_S = 2.5


@check("VAULT-07", alone=True, rounds=4)
def stampede_costs_nobody_the_token(world: World, races: Races) -> None:
    """Of many who redeem an expired merchant token at the same moment, nobody is sent to the user.

    The merchant takes each refresh token once, ends the grant when one comes twice, and holds its answers
    until as many have asked as redeem. In every other round the tokens are those of two agents of one user.
    What else than 410 a redemption may get while another one refreshes is open; past the next expiry, the
    vault works.
    """
    for number, _ in enumerate(races.each(at_most=None if world.clock.can_move() else 1), races.first):
        alone = isolated_user(world)
        alone.short_lived(rotate_refresh_tokens=True)
        grants = [alone.grant(world.agents.new()) for _ in range(2 - number % 2)]
        proxy_token = alone.proxy_token()
        seen = [[world.backend.require_redeemed(grant, proxy_token)] for grant in grants]
        asked = len(alone.asked("refresh_token"))

        for _ in range(STAMPEDES):
            let_expire(world)
            answers = _stampede(alone, grants, proxy_token, races.racers)
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
                # Another crowd would wait in vain, too; what this one did shows at the next expiry.
                break
        met = len(alone.asked("refresh_token")) > asked
        alone.short_lived(rotate_refresh_tokens=True)
        let_expire(world)
        for grant, redeemed in zip(grants, seen, strict=True):
            _works_at_the_next_expiry(alone, grant, proxy_token, redeemed)
        if not met:
            raise LeftOut("no crowd that redeemed at one moment made the gateway ask its merchant")


@check("VAULT-07", alone=True, rounds=2)
def refresh_that_takes_seconds_is_made_once(world: World, races: Races) -> None:
    """However long the merchant takes over a refresh, nobody who redeems meanwhile is sent to the user.

    A lock that gives up after a moment lets the next one refresh with the same token, which ends the grant:
    that may show at the next expiry alone. Whoever does not wait that long for a merchant, or asks it again
    meanwhile, is seen by a user who redeems alone.
    """
    for _ in races.each():
        _one_slow_refresh(world)


@check("VAULT-01", alone=True, rounds=4)
def nobody_of_many_gets_the_expired_token(world: World, races: Races) -> None:
    """Of many who redeem an expired merchant token at the same moment, nobody is given that one.

    The merchant takes its time over the refresh. What else comes to those who did not begin it is open.
    """
    if not world.clock.can_move():
        raise LeftOut("clocks differ by a moment, so a token may have expired for one side alone")
    for _ in races.each():
        alone = isolated_user(world)
        alone.short_lived(rotate_refresh_tokens=True)
        grant, proxy_token = alone.grant(), alone.proxy_token()
        expired = world.backend.require_redeemed(grant, proxy_token).member("access_token")
        let_expire(world)
        answers = _stampede(alone, [grant], proxy_token, races.racers)
        given = [answer.member("access_token") for answer in answers if answer.status == 200]
        if not given:
            raise LeftOut("nobody of those who redeemed at one moment was given a token")

        expect.that(
            expired not in given,
            f"{len(answers)} redemptions at one moment, past the expiry of a merchant token",
            expected="no merchant token that has expired",
            got=f"the expired one for {given.count(expired)}",
        )


def _one_slow_refresh(world: World) -> None:
    """One user redeems alone, and one in a crowd, past an expiry of both and past the next one."""
    lonely, crowded = isolated_user(world), isolated_user(world)
    agent = world.agents.new()
    turns, first = [], []
    for place in (lonely, crowded):
        place.short_lived(rotate_refresh_tokens=True)
        turns.append((place.grant(agent), place.proxy_token()))
        first.append(world.backend.require_redeemed(*turns[-1]))
    asked = len(lonely.asked("refresh_token"))
    let_expire(world)
    for place in (lonely, crowded):
        place.short_lived(rotate_refresh_tokens=True, refresh={"outcome": "slow", "seconds": SLOW_S})
    asking = [turns[0], *[turns[1]] * FEW]
    by_itself, *answers = concurrent.redemptions(world.gateway, asking)
    for (grant, _), answer in zip(asking, (by_itself, *answers), strict=True):
        still_good(world, grant, answer)
    if by_itself.status != 200 or len(lonely.asked("refresh_token")) != asked + 1:
        raise LeftOut(f"the gateway does not wait {SLOW_S} s for one answer of its merchant")

    gone = sum(answer.status == 410 for answer in answers)
    expect.that(
        not gone,
        f"{len(answers)} redemptions at one moment, of a token whose refresh takes {SLOW_S} s",
        expected="410 for none",
        got=f"410 for {gone}",
    )
    crowded.short_lived(rotate_refresh_tokens=True)
    let_expire(world)
    _works_at_the_next_expiry(crowded, *turns[1], [first[1], *answers])


def _stampede(
    alone: IsolatedUser, grants: Sequence[Grant], proxy_token: Secret, racers: int
) -> tuple[Exchange, ...]:
    """All of the racers redeem, and the merchant is slow to answer their refreshes."""
    world = alone.world
    hold = {"outcome": "hold", "gate": world.unique(), "parties": racers, "seconds": HOLD_S}
    alone.short_lived(rotate_refresh_tokens=True, refresh=hold)
    asked = len(alone.asked("refresh_token"))
    turns = [(grants[number % len(grants)], proxy_token) for number in range(racers)]
    answers = concurrent.redemptions(world.gateway, turns)
    for (grant, _), answer in zip(turns, answers, strict=True):
        still_good(world, grant, answer)
    if len(alone.asked("refresh_token")) == asked and any(answer.status == 200 for answer in answers):
        raise LeftOut("the gateway asked the merchant for no refresh, at an expiry that all redeemed past")
    return answers


def _works_at_the_next_expiry(
    alone: IsolatedUser, grant: Grant, proxy_token: Secret, seen: Sequence[Exchange]
) -> None:
    """The grant redeems once more, and what comes is new and works."""
    old = [each.member("access_token") for each in seen if each.status == 200]
    answer = redeem_past(alone.world, grant, proxy_token, old[-1])
    still_good(alone.world, grant, answer)
    expect(answer).status(200)
    token = expect.text(answer.member("access_token"), "access_token of the redemption")
    expect.that(
        token not in old,
        "merchant token past its next expiry, after the stampede",
        expected="a new one",
        got="one that has expired",
    )
    works(alone, token)
