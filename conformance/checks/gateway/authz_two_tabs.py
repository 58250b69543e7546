"""A user's approval in one tab or browser counts only for the agent of that page."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._late_forms import sent_late
from gateproof.conformance.checks.gateway._visits import approves
from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Attempt


@check("AUTHZ-17", needs=["sign-in:browser"], cases={"in-a-new-browser": False, "signed-in": True})
def code_never_comes_for_the_agent_of_another_tab(gateway: Gateway, world: World, case: bool) -> None:
    """A form that approves one agent gives no code to another agent whose page is open in a second tab.

    It is sent after the second tab of the same browser has opened the other agent's request. A code for the
    agent of the form, and an error, are both accepted. A sign-in form names no agent, and is not judged.
    """
    user = world.users[0]
    for act in _approving_forms(gateway, world, signed_in=case):
        browser = gateway.browser()
        if case:
            approves(gateway, world, browser, world.agents.new(), user)
        shown, other = world.attempt(user=user), world.attempt(user=user)
        visit = sent_late(gateway, browser, act, shown, other)
        if visit is not None:
            _is_not_for(world, visit, other, f"form {act}, sent after another agent's page was opened")
        approves(gateway, world, browser, other.agent, user)


@check("AUTHZ-17", needs=["sign-in:browser"], cases={"in-another-browser": False, "in-another-tab": True})
def code_never_comes_for_an_agent_that_sent_the_same_state(
    gateway: Gateway, world: World, case: bool
) -> None:
    """A form that approves one agent gives no code to another agent, whose request has the same `state`.

    The other request is opened before the form is sent. The agents, not the gateway, choose the state. An
    error in place of the code is accepted.
    """
    user, browser = world.users[0], gateway.browser()
    act = approves(gateway, world, gateway.browser(), world.agents.new(), user).acts or 1
    shown = world.attempt(user=user)
    other = world.attempt(user=user, state=shown.parameters["state"])
    visit = sent_late(gateway, browser, act, shown, other, same_browser=case)
    if visit is None:
        raise LeftOut("the second authorization of this user has fewer forms than the first")
    require.that(visit.ended(), "the late form", expected="an end", got=visit.outcome())

    _gives_no_tokens(world, visit, other)
    approves(gateway, world, gateway.browser(), other.agent, user)


def _approving_forms(gateway: Gateway, world: World, *, signed_in: bool) -> Sequence[int]:
    """The numbers of the forms that only approve, in an agent's first authorization in such a browser.

    In a signed-in browser these are all forms, in a new browser it is the last one.
    """
    user, browser = world.users[0], gateway.browser()
    new, kept = (approves(gateway, world, browser, world.agents.new(), user) for _ in range(2))
    if not kept.acts or kept.passwords or not new.acts:
        raise LeftOut("the user approves a new agent with the sign-in")
    return range(1, kept.acts + 1) if signed_in else [new.acts]


def _is_not_for(world: World, visit: Visit, other: Attempt, what: str) -> None:
    """The redirect has no code with the other request's state, and none that the other agent can exchange."""
    expect.that(
        not visit.codes() or visit.parameter("state") != other.parameters["state"],
        what,
        expected="a code for the agent of the form, or none",
        got="a code for the other agent",
    )
    _gives_no_tokens(world, visit, other)


def _gives_no_tokens(world: World, visit: Visit, other: Attempt) -> None:
    expect.that(True, "an agent that the user did not approve", expected="no tokens", got="none")
    for code in visit.codes():
        answer = world.gateway.exchange(world.authorization_of(other, code))
        no_tokens(answer, "a code that the user gave to another agent")
