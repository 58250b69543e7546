"""Visits to the authorization endpoint, and the results that checks expect of them."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.reused_agent import reused_authorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.addresses import resolve
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Agent, Attempt, Resource, User

NO_PARALLEL_SESSIONS = (
    "users do not stay signed in in two browsers at once: this check is for gateways that keep users signed "
    "in and allow a user several sessions"
)


def no_code(visit: Visit, what: str) -> None:
    """The visit ended in a way that can be judged, and gave no code."""
    require.that(
        visit.ended(),
        what,
        expected="the browser on a page or at the redirect URI",
        got=visit.outcome(),
    )
    expect.that(not visit.codes(), what, expected="no code", got=visit.outcome())


def was_answered(visit: Visit, what: str) -> None:
    """Requires that the gateway answered at all; a page with a server error is an answer, too."""
    require.that(
        visit.ended() or visit.crashed(), what, expected="an answer of the gateway", got=visit.outcome()
    )


def code_came(visit: Visit, what: str) -> None:
    """The browser was redirected with a code."""
    expect.that(bool(visit.codes()), what, expected="a code at the redirect URI", got=visit.outcome())


def pending_agent(world: World, resource: Resource) -> Agent:
    """A new agent that has authorized once and is Pending."""
    agent = world.agents.new()
    visit = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
    require.that(
        visit.ended() and not visit.codes(),
        "first authorization in a holding Project",
        expected="no code",
        got=visit.outcome(),
    )
    return agent


def attempt_known_to_work(world: World) -> tuple[World, Attempt]:
    """A new request of an agent that has just got a code, and a world with the browser that received it."""
    world, given = reused_authorization(world)
    return world, world.attempt(given.agent)


def visit_with(world: World, attempt: Attempt, **parameters: str) -> Visit:
    """Visits with some parameters of the attempt replaced; the visit may end on any host."""
    pairs = list((dict(attempt.parameters) | parameters).items())
    return world.gateway.visit(attempt, pairs=pairs, wherever=True)


def redirected_elsewhere(sent_to: str | None, registered: str, asked_for: str) -> bool:
    """True if the browser was redirected to a host of the agent or the request, and not to a registered URI.

    An error page on another host of the gateway does not count.
    """
    if sent_to is None:
        return False
    there, home = urlsplit(sent_to), urlsplit(registered)
    if there.scheme not in {"http", "https"}:
        return True
    if (there.scheme, there.netloc, there.path) == (home.scheme, home.netloc, home.path):
        brought = set(parse_qsl(there.query, keep_blank_values=True))
        own = set(parse_qsl(home.query, keep_blank_values=True))
        asked = set(parse_qsl(urlsplit(asked_for).query, keep_blank_values=True))
        return not own <= brought or bool(brought & (asked - own))
    hosts = {home.hostname, urlsplit(resolve(registered, asked_for)).hostname, urlsplit(asked_for).hostname}
    return there.hostname in hosts


def is_not_sent_to(unregistered: str, visit: Visit, what: str) -> None:
    """The browser is not redirected to this address, which the agent did not register."""
    expect.that(
        not redirected_elsewhere(visit.sent_to, CALLBACK, unregistered),
        what,
        expected="no redirect to the unregistered address",
        got=visit.outcome(),
    )


def approves(gateway: Gateway, world: World, browser: Browsing, agent: Agent, user: User) -> Visit:
    """The user approves this agent in this browser."""
    url = gateway.authorization_url(world.attempt(agent, user=user))
    visit = gateway.record_secrets(browser.visit(url, agent.redirect_uri, user, approve=True))
    require_code(world.gateway, visit)
    return visit


def in_browser(world: World, browser: Browsing) -> World:
    """The same world, in which all users sign in in this browser."""
    return replace(world, gateway=replace(world.gateway, sign_in=browser.visit))


def keeps_several_sessions(world: World) -> bool:
    """True if a user who signs in in a second browser stays signed in in the first.

    A gateway may allow one session per user. False also if users never stay signed in: then the check cannot
    tell whether a new session ends another one.
    """
    if world.worker_state.parallel_sessions is None:
        agent, here, there = world.agents.new(), world.in_one_browser(), world.in_one_browser()
        first, again, _, after = (_user_actions(browser, agent) for browser in (here, here, there, here))
        world.worker_state.parallel_sessions = again == after < first
    return world.worker_state.parallel_sessions


def _user_actions(browser: World, agent: Agent) -> int:
    """How many actions of the user it took to get a code."""
    visit = browser.gateway.visit(browser.attempt(agent))
    require_code(browser.gateway, visit)
    return visit.acts or 0
