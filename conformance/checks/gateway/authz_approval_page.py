"""If approval is separate from the sign-in, the gateway asks whenever the user has not approved the agent."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.conformance.checks.gateway._visits import approves
from gateproof.conformance.kit.gateway.gateway import Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, User

# Whether the user stays in one browser, or opens a new one each time.
BROWSERS = {"in-one-browser": True, "in-new-browsers": False}


@check("AUTHZ-17", needs=["sign-in:decline"], cases=BROWSERS)
def password_alone_is_no_yes_after_a_no(gateway: Gateway, world: World, case: bool) -> None:
    """If approval is a separate action, an agent that the user declined gets no code for the password alone.

    Left out if a new agent gets its code for the sign-in alone: then the sign-in is the approval.
    """
    user, agent, browser = world.users[0], world.agents.new(), _browsers(gateway, one=case)
    _require_separate_approval(gateway, world, browser(), user)
    declined = _visit(gateway, world, browser(), agent, user, approve=False)
    if declined.declined is False:
        raise LeftOut("there was no button to decline with")
    require.that(not declined.codes(), "the user's refusal", expected="no code", got=declined.outcome())

    again = _visit(gateway, world, browser(), agent, user)
    _require_separate_approval(gateway, world, browser(), user)
    _was_approved(again, "authorization of an agent that the user has declined before")


@check("AUTHZ-17", needs=["users:2"], cases=BROWSERS)
def password_alone_is_no_yes_after_another_users(gateway: Gateway, world: World, case: bool) -> None:
    """If approval is a separate action, one user's approval gives no code for another's password alone.

    The first user has approved the agent twice.
    """
    first, second = world.users[:2]
    agent, browser = world.agents.new(), _browsers(gateway, one=case)
    for _ in range(2):
        approves(gateway, world, gateway.browser(), agent, first)
    _require_separate_approval(gateway, world, browser(), second)

    visit = _visit(gateway, world, browser(), agent, second)
    _require_separate_approval(gateway, world, browser(), second)
    _was_approved(visit, "authorization of an agent that another user approved")


def _browsers(gateway: Gateway, *, one: bool) -> Callable[[], Browsing]:
    kept = gateway.browser()
    return (lambda: kept) if one else gateway.browser


def _require_separate_approval(gateway: Gateway, world: World, browser: Browsing, user: User) -> None:
    """The user approves a new agent by an action other than typing a password; left out otherwise."""
    visit = approves(gateway, world, browser, world.agents.new(), user)
    if (visit.acts or 0) <= (visit.passwords or 0):
        raise LeftOut("the user approves a new agent with the sign-in")


def _visit(
    gateway: Gateway, world: World, browser: Browsing, agent: Agent, user: User, *, approve: bool = True
) -> Visit:
    url = gateway.authorization_url(world.attempt(agent, user=user))
    return gateway.record_secrets(browser.visit(url, agent.redirect_uri, user, approve=approve))


def _was_approved(visit: Visit, what: str) -> None:
    """If a code came, the user did more than type a password."""
    expect.that(
        not visit.codes() or (visit.acts or 0) > (visit.passwords or 0),
        what,
        expected="no code before the user approves, as for a new agent",
        got="a code after the password alone" if visit.passwords else "a code without any act",
    )
