"""Only a user whom the merchant's identity provider has signed in gives a code."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._visits import approves, no_code
from gateproof.conformance.kit.gateway.gateway import Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.route import origin

# Nobody's password.
WRONG_PASSWORD = "gateproof-wrong-password"  # noqa: S105 - it is nobody's


@check("AUTHZ-20", needs=["sign-in:browser"])
def wrong_password_gives_no_code(gateway: Gateway, world: World) -> None:
    """A user who types a wrong password gets no code; the same user with the right password gets one."""
    user = world.users[0]
    asked = approves(gateway, world, gateway.browser(), world.agents.new(), user)
    if world.merchant is None and not asked.passwords:
        raise LeftOut("the user was asked for no password")
    wrong = with_wrong_password(gateway, user)

    no_code(_visit(gateway, world, gateway.browser(), wrong), "sign-in with a wrong password")


@check("AUTHZ-20", needs=["sign-in:browser", "merchant"])
def sign_in_left_half_way_gives_no_code(gateway: Gateway, world: World) -> None:
    """A browser in which a sign-in was begun but not finished is not signed in afterwards.

    It authorizes the same agent again, and another one. With the right password it then gets a code.
    """
    user, browser, agent = world.users[0], gateway.browser(), world.agents.new()
    require_the_fake(world, approves(gateway, world, gateway.browser(), world.agents.new(), user))
    wrong = with_wrong_password(gateway, user)
    for each in (agent, agent, world.agents.new()):
        attempt = world.attempt(each, user=wrong)
        url = gateway.authorization_url(attempt)
        no_code(gateway.record_secrets(browser.look(url, user)), "authorization that nobody finished")
        visit = gateway.record_secrets(browser.visit(url, each.redirect_uri, wrong, approve=True))
        no_code(visit, "sign-in with a wrong password, after one that was left half way")

    approves(gateway, world, browser, agent, user)


@check("AUTHZ-20", needs=["sign-in:browser", "merchant", "users:2"])
def merchant_signs_in_whoever_comes_in_a_new_browser(gateway: Gateway, world: World) -> None:
    """In a new browser a user gets a code only after a sign-in at the merchant, also the second time."""
    asked: list[bool] = []
    alone = isolated_user(world)
    for user in (alone.user, alone.user, alone.beside().user, alone.user):
        before = world.merchant.last_received() if world.merchant is not None else 0
        attempt = world.attempt(resource=alone.resource, user=user)
        browser = gateway.browser()
        url = gateway.authorization_url(attempt)
        visit = gateway.record_secrets(browser.visit(url, attempt.agent.redirect_uri, user, approve=True))
        if not visit.codes():
            break
        asked.append(
            any(
                entry.endpoint == "sign_in" or entry.grant in {"authorization_code", "password"}
                for entry in alone.received()
                if entry.ordinal > before and entry.login == user.login
            )
        )
    if not any(asked):
        raise LeftOut("the gateway does not sign users in by OpenID Connect at the harness's merchant")

    late = [number for number, was in enumerate(asked, 1) if not was]
    expect.that(
        not late,
        "sign-ins in new browsers",
        expected="a sign-in of that user at the merchant each time",
        got=f"a code without one at sign-in {', '.join(map(str, late))} of {len(asked)}",
    )


@check("AUTHZ-21", needs=["sign-in:browser"], cases=("opened", "opened-and-tried"))
def cookies_from_before_a_sign_in_are_not_signed_in(gateway: Gateway, world: World, case: str) -> None:
    """An attacker who planted cookies in a browser before its user signed in is not signed in afterwards.

    The planted cookies are the gateway's own, from before the sign-in (session fixation). A browser counts as
    signed in if a user who types a wrong password gets a code.
    """
    user, attacker, victim = world.users[0], gateway.browser(), gateway.browser()
    wrong = with_wrong_password(gateway, user)
    gateway.record_secrets(attacker.look(gateway.authorization_url(world.attempt(user=user)), user))
    if case == "opened-and-tried":
        require_the_fake(world, approves(gateway, world, gateway.browser(), world.agents.new(), user))
        _visit(gateway, world, attacker, wrong)
    victim.copy_cookies(attacker, gateway.hosts())
    require_the_fake(world, approves(gateway, world, victim, world.agents.new(), user))
    # If no browser stays signed in, there is no session cookie, and the rule holds as well.
    observe(browser_stays_signed_in=bool(_visit(gateway, world, victim, wrong).codes()))

    visit = _visit(gateway, world, attacker, wrong)
    no_code(visit, "authorization in a browser that holds the cookies of before the sign-in")


def require_the_fake(world: World, visit: Visit) -> None:
    """Left out at other merchants than the fake one: they may lock an account after many wrong passwords."""
    merchant = origin(world.merchant_api or "")
    if not any(origin(page) == merchant for page in visit.acted_on):
        raise LeftOut("the user does not sign in on a page of the harness's own merchant")


def with_wrong_password(gateway: Gateway, user: User) -> User:
    return replace(user, password=gateway.keyring.secret("wrong_password", WRONG_PASSWORD))


def _visit(gateway: Gateway, world: World, browser: Browsing, user: User) -> Visit:
    """The user takes all requested steps of an authorization of a new agent."""
    attempt = world.attempt(user=user)
    url = gateway.authorization_url(attempt)
    return gateway.record_secrets(browser.visit(url, attempt.agent.redirect_uri, user, approve=True))
