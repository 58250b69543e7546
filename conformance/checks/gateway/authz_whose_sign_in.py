"""A browser is signed in as the user who typed a password in it, and as nobody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.checks.gateway._visits import approves, in_browser, no_code
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, Grant, User
from gateproof.conformance.wire.agent import get
from gateproof.conformance.wire.route import origin

# 20 minutes ends short sessions, a day ends most others. The browser authorizes after each pause.
PAUSES_S = (20 * 60, 86_400)

NOBODY_ELSE = "the gateway did not let a second user sign in in this browser"

# What an agent may add to its request so that the user is asked to sign in.
SIGN_IN_AGAIN: Mapping[str, Mapping[str, str]] = {
    "plain-request": {},
    "prompt-login": {"prompt": "login"},
    "max-age-0": {"max_age": "0"},
}

# Parameters with which any request can name a user.
HINTS: Mapping[str, Callable[[Grant], Mapping[str, str]]] = {
    "login-hint": lambda grant: {"login_hint": grant.user.login},
    "login-hint-and-prompt-none": lambda grant: {"login_hint": grant.user.login, "prompt": "none"},
    # Every agent has ID tokens (OpenID Connect Core 3.1.2.1).
    "id-token-hint": lambda grant: {"id_token_hint": grant.id_token.reveal()},
    "id-token-hint-and-prompt-none": lambda grant: {
        "id_token_hint": grant.id_token.reveal(),
        "prompt": "none",
    },
}


@check("AUTHZ-19", needs=["sign-in:browser", "users:2"])
def sign_in_of_another_browser_signs_nobody_in(gateway: Gateway, world: World) -> None:
    """The merchant's answer to a sign-in in another browser does not change the user of a signed-in browser.

    Any site can send that browser to the callback with such an answer (login CSRF). The next authorization in
    the browser is still that of its user. Other checks test the forms on the gateway's own pages.
    """
    stranger, user = world.users[:2]
    agent = world.agents.new()
    asked = approves(gateway, world, gateway.browser(), world.agents.new(), stranger)
    homes = {origin(gateway.base_url), origin(gateway.core_url)}
    acts = [act for act, page in enumerate(asked.acted_on, 1) if origin(page) not in homes]
    if not acts:
        raise LeftOut("the user signs in on a page of the gateway itself")
    theirs = _sub(world, agent, stranger, gateway.browser())
    for act in acts:
        browser = gateway.browser()
        _require_another(_sub(world, agent, user, browser), theirs)
        _handed_over(gateway, world, act, stranger, browser)

        after = _sub(world, agent, user, browser)
        expect.that(
            after != theirs,
            f"user of a browser that was sent the answer to form {act} of another browser",
            expected="the one who signed in there",
            got="the one who began in the other browser",
        )


@check("AUTHZ-20", needs=["sign-in:browser", "users:2"], cases=SIGN_IN_AGAIN)
def code_is_of_the_user_who_signs_in(gateway: Gateway, world: World, case: Mapping[str, str]) -> None:
    """If a user signs in in a browser where another user is signed in, the code is for the new user."""
    agent, browser = world.agents.new(), gateway.browser()
    theirs = _sub(world, agent, world.users[0], browser)

    if not _signs_in_as(world, browser, agent, world.users[1], theirs, case):
        raise LeftOut(NOBODY_ELSE)


@check("AUTHZ-20", needs=["sign-in:browser", "users:2", "control:advance_clock"])
def code_is_of_the_user_who_signs_in_later(gateway: Gateway, world: World) -> None:
    """If a user signs in in a browser where another's session has expired, the code is for the new user."""
    agent, browser = world.agents.new(), gateway.browser()
    theirs = _sub(world, agent, world.users[0], browser)
    for pause_s in PAUSES_S:
        world.clock.advance(pause_s)
        if _signs_in_as(world, browser, agent, world.users[1], theirs):
            return
    raise LeftOut(NOBODY_ELSE)


@check("AUTHZ-20", needs=["sign-in:browser"], cases=HINTS)
def hint_at_a_user_signs_nobody_in(
    gateway: Gateway, world: World, case: Callable[[Grant], Mapping[str, str]]
) -> None:
    """A request that names a user who approved the agent before gives no code in a new browser.

    The first request is sent without a browser, so that SECRET-05 does not count a token in its address:
    tokens in the addresses of a browser are the gateway's.
    """
    user, agent, browser = world.users[0], world.agents.new(), gateway.browser()
    hint = case(world.grant(agent=agent, user=user))
    attempt = world.attempt(agent, user=user)
    pairs = list({**attempt.parameters, **hint}.items())
    url = gateway.authorization_url(attempt, pairs=pairs)
    bare = gateway.wire.send("authorization without a browser", get(url))
    looked = gateway.record_secrets(browser.look(url, user))

    location = bare.header("Location")
    answers = (location or "").startswith(agent.redirect_uri)
    sent = gateway.record_secrets(Visit(sent_to=location, page="the first one", answers=answers))
    no_code(sent, bare.step)
    no_code(looked, "authorization in a new browser, in which nobody signed in")
    approves(gateway, world, browser, agent, user)


def _signs_in_as(
    world: World,
    browser: Browsing,
    agent: Agent,
    user: User,
    theirs: object,
    extra: Mapping[str, str] | None = None,
) -> bool:
    """The user signs in in the browser, and the code is for that user; False without sign-in or code."""
    if user.password.reveal() == world.users[0].password.reveal():
        raise LeftOut("both users have the same password")
    _require_another(_sub(world, agent, user, world.gateway.browser()), theirs)
    attempt, there = world.attempt(agent, user=user), in_browser(world, browser)
    pairs = list({**attempt.parameters, **(extra or {})}.items())
    visit = there.gateway.visit(attempt, pairs=pairs, wherever=True)
    if not visit.passwords or not visit.codes():
        return False

    grant = world.grant_of(world.authorization_of(attempt, visit.codes()[0]), attempt)
    expect.that(
        claims_of(world, grant).get("sub") != theirs,
        "user of the code",
        expected="the one who signed in",
        got="the one who had signed in before",
    )
    return True


def _handed_over(gateway: Gateway, world: World, act: int, user: User, to: Browsing) -> None:
    """Browser `to` sends the form with this number of an authorization that the user began in another one."""
    url = gateway.authorization_url(world.attempt(user=user))
    try:
        visit = gateway.browser().act_in_other_browser(act, url, user, to=to)
    except BeyondReach as end:
        visit = end.visit
    if visit is None:
        raise LeftOut("the authorization had fewer forms than before")
    gateway.record_secrets(visit)


def _sub(world: World, agent: Agent, user: User, browser: Browsing) -> object:
    """The `sub` of the token that the agent gets for this user in this browser."""
    grant = in_browser(world, browser).grant(agent=agent, user=user)
    return claims_of(world, grant).get("sub")


def _require_another(sub: object, theirs: object) -> None:
    require.that(sub != theirs, "sub of the second user", expected="another than the first's", got="the same")
