"""Cookies that name a user in the clear: anybody can write them."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._submitted_forms import users_with_two_passwords
from gateproof.conformance.checks.gateway._tokens import sub_of
from gateproof.conformance.checks.gateway._visits import in_browser, was_answered
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("AUTHZ-20", needs=["sign-in:browser", "users:2"])
def cookies_that_name_another_user_sign_nobody_in(gateway: Gateway, world: World) -> None:
    """A signed-in browser's cookies, with another user's login and `sub` in them, give no code of that user.

    They are replaced where they are readable: as they are, percent-encoded, and in base64 or in the claims of
    a JWT. A gateway may ignore or refuse such cookies. Whoever is asked to sign in does so as the first user.
    """
    user, other = users_with_two_passwords(world)
    agent, browser, forger = world.agents.new(), gateway.browser(), gateway.browser()
    own = sub_of(world, in_browser(world, browser).grant(agent=agent, user=user))
    theirs = sub_of(world, world.grant(agent=agent, user=other))
    require.that(own != theirs, "sub of the second user", expected="another than the first's", got="the same")
    forger.forge_cookies(browser, gateway.hosts(), {user.login: other.login, own: theirs})
    attempt = world.attempt(user=user)
    url = gateway.authorization_url(attempt)
    try:
        visit = forger.visit(url, attempt.agent.redirect_uri, user, approve=True)
    except BeyondReach as end:
        visit = end.visit
    gateway.record_secrets(visit)

    what = f"authorization in a browser whose cookies name {other.name}, where only {user.name} signed in"
    was_answered(visit, what)
    codes = [world.authorization_of(attempt, code) for code in visit.codes()]
    subs = [sub_of(world, world.grant_of(code, attempt)) for code in codes]
    expect.that(theirs not in subs, what, expected=f"no code of {other.name}", got="one")
