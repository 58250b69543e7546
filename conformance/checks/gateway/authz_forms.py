"""A form works in the browser that it was served to, and in no other."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import approves, no_code
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.suite.parties import Attempt


@check("AUTHZ-19", needs=["sign-in:browser"])
def forms_work_only_in_the_browser_that_opened_them(gateway: Gateway, world: World) -> None:
    """A form that is sent by a browser without the cookies of the one it was served to leads to no code.

    Each form on the way is taken over once, with the Origin and Referer it would have had; the user then goes
    on in the other browser, but does not sign in there anew.
    """
    acts = _acts(gateway, world)
    ended = 0
    for act in range(1, acts + 1):
        what = f"form {act} of {acts}, sent by another browser"
        visit = _handed_over(gateway, act, world.attempt(), what)
        if not visit.crashed():
            no_code(visit, what)
            ended += 1
    # Libraries of signing in crash on a way back that they did not send anybody on.
    require.that(ended > 0, "forms, sent by another browser", expected="an end", got="a crash at each")


@check("AUTHZ-19", needs=["sign-in:browser"])
def last_form_works_in_no_browser_with_other_cookies(gateway: Gateway, world: World) -> None:
    """The form that a code comes of gives none to a browser that is known, and is on an errand of its own.

    It has begun an authorization of the same agent. What that comes to is no replay, so nothing more is done
    in this browser, and an answer to its own request is not judged.
    """
    acts = _acts(gateway, world)
    attempt = world.attempt()
    own, browser = world.attempt(attempt.agent), gateway.browser()
    browser.look(gateway.authorization_url(own), own.user)

    what = f"form {acts} of {acts}, sent by a browser that had begun another authorization"
    visit = _handed_over(gateway, acts, attempt, what, to=browser)
    if visit.parameter("state") == own.parameters["state"]:
        raise LeftOut("the other browser was answered about the authorization that it had begun itself")
    no_code(visit, what)


@check("AUTHZ-19", needs=["sign-in:browser", "users:2"])
def last_form_works_in_no_browser_of_another_user(gateway: Gateway, world: World) -> None:
    """The form that a code comes of gives none to a browser in which another user is signed in.

    Any site can make that browser send it. What its user has approved there was another agent.
    """
    acts = _acts(gateway, world)
    browser = gateway.browser()
    approves(gateway, world, browser, world.agents.new(), world.users[1])

    what = f"form {acts} of {acts}, sent by a browser in which another user is signed in"
    no_code(_handed_over(gateway, acts, world.attempt(), what, to=browser), what)


def _acts(gateway: Gateway, world: World) -> int:
    """How many forms an authorization takes here, of an agent that is new to the user."""
    acts = approves(gateway, world, gateway.browser(), world.agents.new(), world.users[0]).acts or 0
    require.that(acts > 0, "authorization", expected="a form on the way", got="none")
    return acts


def _handed_over(
    gateway: Gateway, act: int, attempt: Attempt, what: str, *, to: Browsing | None = None
) -> Visit:
    """The visit of another browser, which sends the form of this number."""
    url = gateway.authorization_url(attempt)
    try:
        visit = gateway.browser().hand_over(act, url, attempt.user, to=to)
    except BeyondReach as end:
        visit = end.visit
    require.that(visit is not None, what, expected="that form", got="a shorter way than before")
    assert visit is not None  # noqa: S101 - required above
    return gateway.record_secrets(visit)
