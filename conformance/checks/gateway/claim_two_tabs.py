"""Authorizations of one agent at two Resources, open in two tabs of a browser."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._late_forms import sent_late
from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.checks.gateway._visits import in_browser
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt


@check("CLAIM-02", needs=["sign-in:browser", "resources:2"])
def aud_is_that_of_the_tab_of_the_form(gateway: Gateway, world: World) -> None:
    """If one agent's requests at two Resources are open in two tabs, each `state` brings its own Resource.

    The form of the first tab is sent after the second was opened. Which request the gateway answers, or
    whether it answers with an error, is its choice.
    """
    agent, user, browser = world.agents.new(), world.users[0], gateway.browser()
    here = in_browser(world, browser)
    one, other = of_one_merchant(world, console.siblings(world))
    # The user is signed in at both Resources, and approves a new agent with the last form.
    here.new_code(resource=other, user=user)
    here.new_code(resource=one, user=user)
    act = here.gateway.visit(world.attempt(resource=one, user=user)).acts
    if not act:
        raise LeftOut("a user who is signed in approves a new agent without a form")
    shown = world.attempt(agent, resource=one, user=user)
    second = world.attempt(agent, resource=other, user=user)
    visit = sent_late(gateway, browser, act, shown, second)
    code = visit.parameter("code") if visit is not None else None
    if visit is None or code is None:
        raise LeftOut("the form of the first tab gives no code after the second was opened")
    answered = _with_state(visit.parameter("state"), shown, second)
    tokens = gateway.exchange(world.authorization_of(answered, code))
    token = tokens.member("access_token")
    if not isinstance(token, str):
        raise LeftOut(f"the code of the first tab gives no tokens: {tokens.outcome()}")

    aud = world.jwt(gateway.keyring.secret("access_token", token), "access token").claims.get("aud")
    meant, not_meant = answered.resource.indicator, (one if answered is second else other).indicator
    expect.that(
        isinstance(aud, list) and meant in aud and not_meant not in aud,
        "aud of the token for the code with the state of one of two tabs",
        expected=f"the indicator of that tab's Resource, {meant}",
        got=aud,
    )


def _with_state(state: str | None, *attempts: Attempt) -> Attempt:
    for attempt in attempts:
        if attempt.parameters["state"] == state:
            return attempt
    raise LeftOut("the redirect has the state of neither request, which AUTHZ-02 judges")
