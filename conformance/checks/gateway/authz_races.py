"""Authorizations that overlap: with each other, and with the approval of their agent."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.checks.gateway._visits import code_came, side_by_side
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, Resource
from gateproof.conformance.suite.races import Races, amid, together

# Browsers that are under way at the same time.
BROWSERS = 4
# How long the merchant holds an answer, for another browser to come as far.
HOLD_S = 0.3
# Authorizations that an approval comes amid.
AMID = 3


@check("AUTHZ-01", needs=["sign-in:browser"], rounds=4)
def sign_ins_at_once_end_at_their_own_request(world: World, races: Races) -> None:
    """Users who sign in at the same time, in different browsers, each come back with code and state.

    Where a user's sessions may end each other, each user signs in once.
    """
    world.new_code()
    browsers = BROWSERS if side_by_side(world) else min(BROWSERS, len(world.users))
    if browsers < 2:
        raise LeftOut("there is one user, whose sessions were not seen to leave each other alone")
    for _ in races.each():
        users = [world.users[number % len(world.users)] for number in range(browsers)]
        attempts = [world.attempt(world.agents.new(), user=user) for user in users]

        visits = together([partial(world.gateway.visit, attempt) for attempt in attempts])

        for attempt, visit in zip(attempts, visits, strict=True):
            code_came(visit, f"sign-in of {attempt.user.name} beside {browsers - 1} others")
            expect.equal(
                visit.parameter("state"),
                attempt.parameters["state"],
                f"state of {attempt.user.name}'s sign-in beside {browsers - 1} others",
            )


@check("AUTHZ-01", needs=["merchant", "sign-in:browser"], rounds=4)
def first_sign_ins_of_a_user_meet(world: World, races: Races) -> None:
    """A user who signs in for the first time, in two browsers at once, comes back from both with a code.

    The merchant holds what it is asked for until both have asked, or for a moment.
    """
    if not side_by_side(world):
        raise LeftOut("the sessions of a user were not seen to leave each other alone")
    for _ in races.each():
        alone = isolated_user(world)
        hold = {"outcome": "hold", "gate": world.unique(), "parties": 2, "seconds": HOLD_S}
        alone.script(provisioning=hold)
        attempts = [
            world.attempt(world.agents.new(), resource=alone.resource, user=alone.user) for _ in range(2)
        ]

        for visit in together([partial(world.gateway.visit, attempt) for attempt in attempts]):
            code_came(visit, "one of two first sign-ins of a user at the same time")


@check("AUTHZ-08", needs=["control:approve_agent", "sign-in:browser"], rounds=5)
def approval_amid_authorizations_is_kept(world: World, races: Races) -> None:
    """An agent that is approved while it authorizes may get a code or not; begun anew, it does.

    Several authorizations go on all the time, in browsers that are signed in, and the approval comes in the
    midst of them. Where a user's sessions may end each other, there is one browser.
    """
    world.new_code()
    browsers = [world.in_one_browser() for _ in range(AMID if side_by_side(world) else 1)]
    for choice in races.each():
        resource, agent = world.projects.holding_resource(), world.agents.new()
        authorizing = [partial(_authorize, browser, agent, resource) for browser in browsers]
        for authorize in authorizing:
            pending = authorize()
            require.that(
                pending.ended() and not pending.codes(),
                "first attempt of an agent that is Pending",
                expected="an end without a code",
                got=pending.outcome(),
            )

        history = amid(authorizing, partial(world.projects.approve_agent, agent, resource), choice)

        for visit in history.before:
            what = "authorization that was under way when its agent was approved"
            expect.that(visit.ended(), what, expected="an end", got=visit.outcome())
        for visit in (*history.after, authorizing[0]()):
            code_came(visit, "authorization begun after the approval, which came amid others")


def _authorize(browser: World, agent: Agent, resource: Resource) -> Visit:
    return browser.gateway.visit(browser.attempt(agent, resource=resource), wherever=True)
