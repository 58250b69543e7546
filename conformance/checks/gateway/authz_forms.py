"""A form works only in the browser that it was served to."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import approves, no_code
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.suite.parties import Attempt


@check("AUTHZ-19", needs=["sign-in:browser"])
def forms_work_only_in_the_browser_that_opened_them(gateway: Gateway, world: World) -> None:
    """A form sent without the cookies of the browser that it was served to gives no code.

    Each form of the flow is sent once from another browser, with the original Origin and Referer. The user
    then continues in that browser, but does not sign in again there.
    """
    acts = _form_count(gateway, world)
    ended = 0
    for act in range(1, acts + 1):
        what = f"form {act} of {acts}, sent by another browser"
        visit = _sent_from_another_browser(gateway, act, world.attempt(), what)
        if not visit.crashed():
            no_code(visit, what)
            ended += 1
    # Some sign-in libraries crash on a callback that they did not start.
    require.that(ended > 0, "forms, sent by another browser", expected="an end", got="a crash at each")


@check("AUTHZ-19", needs=["sign-in:browser"])
def last_form_works_in_no_browser_with_other_cookies(gateway: Gateway, world: World) -> None:
    """The last form gives no code in a browser that has begun an authorization of its own.

    That authorization is for the same agent. If the browser gets an answer to it, this is no replay and is
    left out. Nothing more is done in that browser.
    """
    acts = _form_count(gateway, world)
    attempt = world.attempt()
    own, browser = world.attempt(attempt.agent), gateway.browser()
    browser.look(gateway.authorization_url(own), own.user)

    what = f"form {acts} of {acts}, sent by a browser that had begun another authorization"
    visit = _sent_from_another_browser(gateway, acts, attempt, what, to=browser)
    if visit.parameter("state") == own.parameters["state"]:
        raise LeftOut("the other browser was answered about the authorization that it had begun itself")
    no_code(visit, what)


@check("AUTHZ-19", needs=["sign-in:browser", "users:2"])
def last_form_works_in_no_browser_of_another_user(gateway: Gateway, world: World) -> None:
    """The last form gives no code in a browser where another user is signed in.

    Any site can make that browser send the form. Its user has approved a different agent there.
    """
    acts = _form_count(gateway, world)
    browser = gateway.browser()
    approves(gateway, world, browser, world.agents.new(), world.users[1])

    what = f"form {acts} of {acts}, sent by a browser in which another user is signed in"
    no_code(_sent_from_another_browser(gateway, acts, world.attempt(), what, to=browser), what)


def _form_count(gateway: Gateway, world: World) -> int:
    """How many forms an authorization has, for an agent that is new to the user."""
    acts = approves(gateway, world, gateway.browser(), world.agents.new(), world.users[0]).acts or 0
    require.that(acts > 0, "authorization", expected="a form in the flow", got="none")
    return acts


def _sent_from_another_browser(
    gateway: Gateway, act: int, attempt: Attempt, what: str, *, to: Browsing | None = None
) -> Visit:
    """The visit of another browser that sends the form with this number."""
    url = gateway.authorization_url(attempt)
    try:
        visit = gateway.browser().act_in_other_browser(act, url, attempt.user, to=to)
    except BeyondReach as end:
        visit = end.visit
    require.that(visit is not None, what, expected="that form", got="fewer forms than before")
    assert visit is not None  # noqa: S101 - required above
    return gateway.record_secrets(visit)
