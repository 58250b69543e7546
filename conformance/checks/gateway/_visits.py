"""Visits to the authorization endpoint, and what they have to end in."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.reused_agent import regular
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Agent, Attempt, User


def no_code(visit: Visit, what: str) -> None:
    """The visit came to an end that can be judged, and gave no code."""
    require.that(
        visit.ended(),
        what,
        expected="the browser on a page or at the redirect URI",
        got=visit.outcome(),
    )
    expect.that(not visit.codes(), what, expected="no code", got=visit.outcome())


def code_came(visit: Visit, what: str) -> None:
    """The browser was sent away with a code."""
    expect.that(bool(visit.codes()), what, expected="a code at the redirect URI", got=visit.outcome())


def good(world: World) -> tuple[World, Attempt]:
    """A request that has just been seen to give a code, and a world whose browser gave it."""
    world, given = regular(world)
    return world, world.attempt(given.agent)


def visit_with(world: World, attempt: Attempt, **parameters: str) -> Visit:
    """The attempt with some parameters replaced; the way to a code is known not to leave this run's reach."""
    pairs = list((dict(attempt.parameters) | parameters).items())
    return world.gateway.visit(attempt, pairs=pairs, wherever=True)


def approves(gateway: Gateway, world: World, browser: Browsing, agent: Agent, user: User) -> Visit:
    """The user approves this agent in this browser."""
    url = gateway.authorization_url(world.attempt(agent, user=user))
    visit = gateway.record_secrets(browser.visit(url, agent.redirect_uri, user, approve=True))
    require.that(bool(visit.codes()), "authorization", expected="a code", got=visit.outcome())
    return visit


def side_by_side(world: World) -> bool:
    """Whether a user who signs in a second time elsewhere stays signed in where the first time was.

    A gateway may allow a user one session, and one at which nobody stays signed in does not show how many.
    """
    if world.standing.side_by_side is None:
        agent, here, there = world.agents.new(), world.in_one_browser(), world.in_one_browser()
        first, again, _, after = (_acts(browser, agent) for browser in (here, here, there, here))
        world.standing.side_by_side = again == after < first
    return world.standing.side_by_side


def _acts(browser: World, agent: Agent) -> int:
    """What the user had to do for a code."""
    visit = browser.gateway.visit(browser.attempt(agent))
    require.that(bool(visit.codes()), "authorization", expected="a code", got=visit.outcome())
    return visit.acts or 0
