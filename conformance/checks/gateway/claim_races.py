"""The `sub` of tokens when several users sign in concurrently."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.checks.gateway._visits import NO_PARALLEL_SESSIONS, keeps_several_sessions
from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.isolated_user import new_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.suite.races import Races, together
from gateproof.conformance.wire.exchange import Exchange


@check("CLAIM-03", needs=["users:2", "sign-in:browser"], rounds=5)
def sub_is_the_users_own_when_others_sign_in_too(world: World, races: Races) -> None:
    """Two users who sign in concurrently, in two browsers each, get one `sub` each, and not the same one.

    If the run can create Projects, the users sign in to a new one. All codes are exchanged at the same
    moment. If a new session may end an older one of the same user, each user has one browser.
    """
    for _ in races.each():
        signed_in, subs = _signed_in_at_once(world)
    for attempt in signed_in:
        later = world.grant(agent=attempt.agent, resource=attempt.resource, user=attempt.user).answer
        what = f"sub of {attempt.user.name} in a later sign-in"
        expect.equal(_sub(world, later), subs[attempt.user.login], what)


@check("CLAIM-03", needs=["merchant", "sign-in:browser"], rounds=5)
def sub_of_a_new_user_is_one_when_both_first_sign_ins_meet(world: World, races: Races) -> None:
    """A new user who signs in twice at the same moment has one `sub` from then on.

    Two browsers authorize one agent, and both codes are exchanged at the same moment.
    """
    if world.merchant is None:
        raise Unavailable("merchant", "the harness's own merchant is not part of this run")
    if not keeps_several_sessions(world):
        raise LeftOut(NO_PARALLEL_SESSIONS)
    for _ in races.each():
        agent, user = world.agents.new(), new_user(world, world.merchant)
        attempts = [world.attempt(agent, user=user) for _ in range(2)]
        codes = together([partial(world.code_for, attempt) for attempt in attempts])
        answers = concurrent.exchanges(world.gateway, codes)
        # Of two codes for the same agent and user, the newer may invalidate the older.
        subs = [_sub(world, answer) for answer in answers if answer.status == 200]
        require.that(bool(subs), "exchanges", expected="tokens for one code at least", got="none")
        later = _sub(world, world.grant(agent=agent, user=user).answer)
        expect.equal(
            sorted({*subs, later}), [later], "subs of a user whose first two sign-ins were simultaneous"
        )


def _signed_in_at_once(world: World) -> tuple[list[Attempt], dict[str, str]]:
    """One sign-in of each user, and the `sub` of each user in the concurrent sign-ins."""
    resource, subs = world.projects.own_or_home().resource, dict[str, str]()
    signing_in = [world.attempt(world.agents.new(), resource=resource, user=user) for user in world.users[:2]]
    if keeps_several_sessions(world):
        again = [world.attempt(each.agent, resource=resource, user=each.user) for each in signing_in]
        signing_in += again

    codes = together([partial(world.code_for, attempt) for attempt in signing_in])
    answers = concurrent.exchanges(world.gateway, codes)

    for attempt, answer in zip(signing_in, answers, strict=True):
        if answer.status != 200 and len(signing_in) > len(world.users[:2]):
            # Of two codes for the same agent and user, the newer may invalidate the older.
            continue
        sub = _sub(world, require(answer).status(200))
        what = f"sub of {attempt.user.name}, who signed in beside {len(codes) - 1} others"
        expect.equal(sub, subs.setdefault(attempt.user.login, sub), what)
    expect.that(
        len(set(subs.values())) == len(subs),
        "subs of two users who signed in at the same time",
        expected="two different ones",
        got="the same",
    )
    require.that(
        len(subs) == len(world.users[:2]), "exchanges", expected="tokens for each user", got=len(subs)
    )
    return signing_in[:2], subs


def _sub(world: World, answer: Exchange) -> str:
    token = require.text(answer.member("access_token"), "access_token of the code exchange")
    claims = world.jwt(world.gateway.keyring.secret("access_token", token), "gateway access token").claims
    return require.text(claims.get("sub"), "sub")
