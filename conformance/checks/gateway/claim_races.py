"""Whom tokens name when several users sign in at the same time."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.checks.gateway._visits import side_by_side
from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.suite.races import Races, together
from gateproof.conformance.wire.exchange import Exchange


@check("CLAIM-03", needs=["users:2", "sign-in:browser"], rounds=5)
def sub_is_the_users_own_when_others_sign_in_too(world: World, races: Races) -> None:
    """Two users who sign in at the same time, each in two browsers, are told apart and each taken for one.

    Where the run makes Projects, nobody has signed in there before. The codes are exchanged at one moment.
    Where a user's sessions may end each other, each has one browser.
    """
    for _ in races.each():
        resource, subs = _signed_in_at_once(world)
    for user in world.users[:2]:
        later = world.grant(resource=resource, user=user).answer
        expect.equal(_sub(world, later), subs[user.login], f"sub of {user.name} in a later sign-in")


def _signed_in_at_once(world: World) -> tuple[Resource, dict[str, str]]:
    """Where the users signed in, and the one `sub` that each of them has there."""
    resource, subs = world.projects.own_or_home().resource, dict[str, str]()
    signing_in = [world.attempt(world.agents.new(), resource=resource, user=user) for user in world.users[:2]]
    if side_by_side(world):
        # Through another agent: of two codes for one and the same, the newer may end the older.
        signing_in += [world.attempt(resource=resource, user=each.user) for each in signing_in]

    codes = together([partial(world.code_for, attempt) for attempt in signing_in])
    answers = concurrent.exchanges(world.gateway, codes)

    for attempt, answer in zip(signing_in, answers, strict=True):
        sub = _sub(world, require(answer).status(200))
        what = f"sub of {attempt.user.name}, who signed in beside {len(codes) - 1} others"
        expect.equal(sub, subs.setdefault(attempt.user.login, sub), what)
    expect.that(
        len(set(subs.values())) == len(subs),
        "subs of two users who signed in at the same time",
        expected="two different ones",
        got="the same",
    )
    return resource, subs


def _sub(world: World, answer: Exchange) -> str:
    token = require.text(answer.member("access_token"), "access_token of the code exchange")
    claims = world.jwt(world.gateway.keyring.secret("access_token", token), "gateway access token").claims
    return require.text(claims.get("sub"), "sub")
