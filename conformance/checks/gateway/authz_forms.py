"""A form works only in the browser that it was served to, and its hidden fields decide nothing."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._visits import approves, no_code
from gateproof.conformance.checks.gateway.authz_pending import require_held
from gateproof.conformance.kit.gateway.approvals import require_approved
from gateproof.conformance.kit.gateway.gateway import CALLBACK, BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
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


@check("AUTHZ-06", needs=["sign-in:browser"])
def redirect_uri_in_a_hidden_field_is_not_believed(gateway: Gateway, world: World) -> None:
    """If the last form repeats the redirect URI in a hidden field, no browser is sent to another value there.

    The request itself is right. A gateway may ignore such a field, or refuse its value.
    """
    acts, attempt = _form_count(gateway, world), world.attempt()
    other = f"{CALLBACK}/gateproof-unregistered"
    changes = {attempt.parameters["redirect_uri"]: other}
    what = "the last form, with another redirect URI in a hidden field"
    visit = _with_changed_fields(gateway, acts, attempt, changes, what)

    expect.that(
        not (visit.sent_to or "").startswith(other),
        what,
        expected="a browser that is sent to the registered redirect URI, or nowhere",
        got="one that is sent to the other",
    )


@check("AUTHZ-07", needs=["control:approve_agent", "sign-in:browser"])
def client_id_in_a_hidden_field_is_not_believed(gateway: Gateway, world: World) -> None:
    """If the last form repeats the client ID in a hidden field, a Pending agent's there gets it no code.

    The request itself is one of an approved agent of the same Project.
    """
    resource = world.projects.holding_resource()
    twin, approved, held = (world.agents.new() for _ in range(3))
    for agent in (twin, approved, held):
        require_held(world, agent, resource)
    for agent in (twin, approved):
        world.projects.approve_agent(agent, resource)
    before = require_approved(world, twin, resource)
    attempt = world.attempt(approved, resource=resource)
    what = "the last form, with a Pending agent's client ID in a hidden field"
    changes = {approved.client_id: held.client_id}
    visit = _with_changed_fields(gateway, before.acts or 0, attempt, changes, what)

    other = world.attempt(held, resource=resource, verifier=attempt.verifier.reveal())
    for code in visit.codes():
        no_tokens(gateway.exchange(world.authorization_of(other, code)), "a code for a Pending agent")
    expect.that(True, what, expected="no code for the Pending agent", got="none")


def _with_changed_fields(
    gateway: Gateway, act: int, attempt: Attempt, changes: Mapping[str, str], what: str
) -> Visit:
    """The visit of a browser that sends the form with this number with changed hidden fields."""
    url = gateway.authorization_url(attempt)
    visit = gateway.browser().submit_changed(act, url, attempt.user, changes)
    require.that(visit is not None, what, expected="that form", got="fewer forms than before")
    assert visit is not None  # noqa: S101 - required above
    return gateway.record_secrets(visit)


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
