"""A form works only in the browser that it was served to."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._submitted_forms import form_count, sent_from_another_browser
from gateproof.conformance.checks.gateway._visits import approves, no_code, was_answered
from gateproof.conformance.checks.gateway.authz_merchant_sign_in import require_the_fake, with_wrong_password
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.wire.route import origin


@check("AUTHZ-19", needs=["sign-in:browser"])
def forms_work_only_in_the_browser_that_opened_them(gateway: Gateway, world: World) -> None:
    """A form sent without the cookies of the browser that it was served to gives no code.

    Each form of the flow is sent once from another browser, with the original Origin and Referer. The user
    then continues in that browser, but does not sign in again there.
    """
    acts = form_count(gateway, world)
    ended = 0
    for act in range(1, acts + 1):
        what = f"form {act} of {acts}, sent by another browser"
        visit = sent_from_another_browser(gateway, act, world.attempt(), what)
        if not visit.crashed():
            no_code(visit, what)
            ended += 1
    # Some sign-in libraries crash on a callback that they did not start.
    require.that(ended > 0, "forms, sent by another browser", expected="an end", got="a crash at each")


@check("AUTHZ-19", needs=["sign-in:browser"])
def form_of_another_browser_signs_the_first_one_in_nowhere(gateway: Gateway, world: World) -> None:
    """If another browser sends a form of the merchant, the browser that was served it is not signed in.

    An attacker who begins and lets another user finish would otherwise be that user. A browser counts as
    signed in if a user who types a wrong password gets a code in it.
    """
    user, agent, here = world.users[0], world.agents.new(), gateway.browser()
    if here.is_real:
        raise LeftOut("a real browser whose page another one has taken over has no cookies any more")
    asked = approves(gateway, world, gateway.browser(), agent, user)
    require_the_fake(world, asked)
    merchant = origin(world.merchant_api or "")
    acts = [act for act, page in enumerate(asked.acted_on, 1) if origin(page) == merchant]
    attempt = world.attempt(user=user)
    what = f"form {acts[-1]}, sent by another browser"
    visit = sent_from_another_browser(gateway, acts[-1], attempt, what, first=here)
    was_answered(visit, what)

    wrong = with_wrong_password(gateway, user)
    for url in (gateway.authorization_url(attempt), gateway.authorization_url(world.attempt(user=user))):
        try:
            later = here.visit(url, agent.redirect_uri, wrong, approve=True)
        except BeyondReach as end:
            later = end.visit
        gateway.record_secrets(later)
        no_code(later, "authorization in the browser that began, after another one signed in")


@check("AUTHZ-19", needs=["sign-in:browser"])
def last_form_works_in_no_browser_with_other_cookies(gateway: Gateway, world: World) -> None:
    """The last form gives no code in a browser that has begun an authorization of its own.

    That authorization is for the same agent. If the browser gets an answer to it, this is no replay and is
    left out. Nothing more is done in that browser.
    """
    acts = form_count(gateway, world)
    attempt = world.attempt()
    own, browser = world.attempt(attempt.agent), gateway.browser()
    browser.look(gateway.authorization_url(own), own.user)

    what = f"form {acts} of {acts}, sent by a browser that had begun another authorization"
    visit = sent_from_another_browser(gateway, acts, attempt, what, to=browser)
    if visit.parameter("state") == own.parameters["state"]:
        raise LeftOut("the other browser was answered about the authorization that it had begun itself")
    no_code(visit, what)


@check("AUTHZ-19", needs=["sign-in:browser", "users:2"])
def last_form_works_in_no_browser_of_another_user(gateway: Gateway, world: World) -> None:
    """The last form gives no code in a browser where another user is signed in.

    Any site can make that browser send the form. Its user has approved a different agent there.
    """
    acts = form_count(gateway, world)
    browser = gateway.browser()
    approves(gateway, world, browser, world.agents.new(), world.users[1])

    what = f"form {acts} of {acts}, sent by a browser in which another user is signed in"
    no_code(sent_from_another_browser(gateway, acts, world.attempt(), what, to=browser), what)
