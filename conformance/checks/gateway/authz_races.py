"""Concurrent authorizations, and an approval while the agent authorizes."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.checks.gateway._visits import (
    NO_PARALLEL_SESSIONS,
    code_came,
    keeps_several_sessions,
)
from gateproof.conformance.kit.gateway.approvals import visit_after_approval
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, Resource
from gateproof.conformance.suite.races import Races, run_during, together
from gateproof.conformance.suite.time_limits import RACE_HOLD_S

# Number of concurrent browsers.
BROWSERS = 4
# Number of authorizations under way when the approval is made.
AMID = 3


@check("AUTHZ-01", needs=["sign-in:browser"], rounds=4)
def sign_ins_at_once_end_at_their_own_request(world: World, races: Races) -> None:
    """Users who sign in concurrently in different browsers each get a code and their own state.

    If a new session may end an older one of the same user, each user signs in once.
    """
    world.new_code()
    browsers = BROWSERS if keeps_several_sessions(world) else min(BROWSERS, len(world.users))
    if browsers < 2:
        raise LeftOut(f"there is one user, and {NO_PARALLEL_SESSIONS}")
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
    """A user's first sign-in, made in two browsers at once, gives a code in both.

    The merchant delays its answers until both requests have arrived, or for a short time.
    """
    if not keeps_several_sessions(world):
        raise LeftOut(NO_PARALLEL_SESSIONS)
    for _ in races.each():
        alone = isolated_user(world, own=True)
        hold = {"outcome": "hold", "gate": world.unique(), "parties": 2, "seconds": RACE_HOLD_S}
        alone.script(provisioning=hold)
        attempts = [
            world.attempt(world.agents.new(), resource=alone.resource, user=alone.user) for _ in range(2)
        ]

        for visit in together([partial(world.gateway.visit, attempt) for attempt in attempts]):
            code_came(visit, "one of two first sign-ins of a user at the same time")


@check("AUTHZ-08", needs=["control:approve_agent", "sign-in:browser"], rounds=5)
def approval_amid_authorizations_is_kept(world: World, races: Races) -> None:
    """An approval made while the agent authorizes takes effect: the next authorization gives a code.

    Several signed-in browsers authorize continuously, and the approval is made meanwhile. Authorizations
    under way, and those of the next seconds, may get a code or not. If a new session may end an older one of
    the same user, there is one browser.
    """
    world.new_code()
    browsers = [world.in_one_browser() for _ in range(AMID if keeps_several_sessions(world) else 1)]
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

        history = run_during(authorizing, partial(world.projects.approve_agent, agent, resource), choice)

        for visit in (*history.before, *history.after):
            what = "authorization at about the time when its agent was approved"
            expect.that(visit.ended(), what, expected="an end", got=visit.outcome())
        visit = visit_after_approval(browsers[0], agent, resource)
        code_came(visit, "authorization begun after the approval, which was made during others")


def _authorize(browser: World, agent: Agent, resource: Resource) -> Visit:
    return browser.gateway.visit(browser.attempt(agent, resource=resource), wherever=True)
