"""The act of a user in one tab is for the agent of that tab."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._visits import approves
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt


@check("AUTHZ-17", needs=["sign-in:browser"], cases={"in-a-new-browser": False, "signed-in": True})
def code_never_comes_for_the_agent_of_another_tab(gateway: Gateway, world: World, case: bool) -> None:
    """A form of one agent's authorization gives no code to another agent whose page is open beside it.

    Each form is sent once after a second tab of the same browser has opened the other agent's request. A code
    for the agent of the form, and an error, are both fine.
    """
    user = world.users[0]
    for act in range(1, _form_count(gateway, world, signed_in=case) + 1):
        browser = gateway.browser()
        if case:
            approves(gateway, world, browser, world.agents.new(), user)
        shown, other = world.attempt(user=user), world.attempt(user=user)
        visit = _sent_late(gateway, browser, act, shown, other)
        if visit is not None:
            _is_not_for(world, visit, other, f"form {act}, sent after another agent's page was opened")
        approves(gateway, world, browser, other.agent, user)


def _form_count(gateway: Gateway, world: World, *, signed_in: bool) -> int:
    """How many forms an agent's first authorization has in such a browser."""
    user, browser = world.users[0], gateway.browser()
    visits = [approves(gateway, world, browser, world.agents.new(), user) for _ in range(1 + signed_in)]
    if not visits[-1].acts:
        raise LeftOut("there is no form in the authorization of a new agent")
    return visits[-1].acts


def _sent_late(gateway: Gateway, browser: Browsing, act: int, shown: Attempt, other: Attempt) -> Visit | None:
    """The end of this form, which is sent after another tab has opened the other agent's request.

    None if there is no such form this time.
    """

    def meanwhile() -> None:
        tab = gateway.browser()
        tab.copy_cookies(browser, gateway.hosts())
        tab.look(gateway.authorization_url(other), other.user)
        browser.copy_cookies(tab, gateway.hosts())

    try:
        visit = browser.hold_back(act, gateway.authorization_url(shown), shown.user, meanwhile)
    except BeyondReach as end:
        visit = end.visit
    return gateway.record_secrets(visit) if visit is not None else None


def _is_not_for(world: World, visit: Visit, other: Attempt, what: str) -> None:
    """No code came for this request, neither with its state nor with that of the other one."""
    expect.that(
        not visit.codes() or visit.parameter("state") != other.parameters["state"],
        what,
        expected="a code for the agent of the form, or none",
        got="a code for the other agent",
    )
    for code in visit.codes():
        answer = world.gateway.exchange(world.authorization_of(other, code))
        no_tokens(answer, "a code that the user gave to another agent")
