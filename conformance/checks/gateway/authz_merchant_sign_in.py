"""Only a user whom the merchant's identity provider has signed in gives a code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.conformance.checks.gateway._visits import approves, no_code
from gateproof.conformance.kit.gateway.gateway import Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import cut_short, in_other_case, longer
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.route import origin

# From the right password to a wrong one, or to none where there is no such one. The first is tried at every
# merchant, the others at the harness's own: a real merchant may lock an account after a few.
WRONG_PASSWORDS: Mapping[str, Callable[[str], str | None]] = {
    "invented": lambda _: "gateproof-wrong-password",
    "all-but-the-last-character": cut_short,
    "longer": longer,
    "other-case": in_other_case,
}


@check("AUTHZ-20", needs=["sign-in:browser"], cases=WRONG_PASSWORDS)
def wrong_password_gives_no_code(gateway: Gateway, world: World, case: Callable[[str], str | None]) -> None:
    """A user who types a wrong password gets no code; the same user with the right password gets one."""
    user = world.users[0]
    asked = approves(gateway, world, gateway.browser(), world.agents.new(), user)
    if case is not WRONG_PASSWORDS["invented"]:
        _require_the_fake(world, asked)
    elif world.merchant is None and not asked.passwords:
        raise LeftOut("the user was asked for no password")
    password = case(user.password.reveal())
    if password is None:
        raise LeftOut("the password has no letter")
    wrong = _with_password(gateway, user, password)

    no_code(_visit(gateway, world, gateway.browser(), wrong), "sign-in with a wrong password")


@check("AUTHZ-20", needs=["sign-in:browser", "users:2", "merchant"])
def password_of_another_user_gives_no_code(gateway: Gateway, world: World) -> None:
    """The password of another user is a wrong one, also in a browser in which that user has signed in."""
    first, second = world.users[:2]
    browser = gateway.browser()
    _require_the_fake(world, approves(gateway, world, gateway.browser(), world.agents.new(), first))
    mixed = _with_password(gateway, first, second.password.reveal())

    no_code(_visit(gateway, world, browser, mixed), "sign-in with the password of another user")
    approves(gateway, world, browser, world.agents.new(), first)


@check("AUTHZ-20", needs=["sign-in:browser", "merchant"])
def unknown_user_gives_no_code(gateway: Gateway, world: World) -> None:
    """A login that the merchant does not know gives no code, whatever the password."""
    user = world.users[0]
    _require_the_fake(world, approves(gateway, world, gateway.browser(), world.agents.new(), user))
    stranger = replace(_with_password(gateway, user, "gateproof-wrong-password"), login=f"no-{user.login}")
    world.show(stranger.login)

    no_code(_visit(gateway, world, gateway.browser(), stranger), "sign-in of a user whom nobody knows")


@check("AUTHZ-20", needs=["sign-in:browser", "merchant"])
def sign_in_left_half_way_gives_no_code(gateway: Gateway, world: World) -> None:
    """A browser in which a sign-in was begun and not finished is not signed in when it comes back.

    It comes back with the same agent and with another one. With the right password it gets its code then.
    """
    user, browser, agent = world.users[0], gateway.browser(), world.agents.new()
    _require_the_fake(world, approves(gateway, world, gateway.browser(), world.agents.new(), user))
    wrong = _with_password(gateway, user, "gateproof-wrong-password")
    for who in (agent, agent, world.agents.new()):
        attempt = world.attempt(who, user=wrong)
        url = gateway.authorization_url(attempt)
        no_code(gateway.record_secrets(browser.look(url, user)), "authorization that nobody finished")
        visit = gateway.record_secrets(browser.visit(url, who.redirect_uri, wrong, approve=True))
        no_code(visit, "sign-in with a wrong password, after one that was left half way")

    approves(gateway, world, browser, agent, user)


@check("AUTHZ-20", needs=["sign-in:browser", "merchant"])
def merchant_signs_in_whoever_comes_in_a_new_browser(gateway: Gateway, world: World) -> None:
    """In a new browser no code comes before the merchant has signed that user in, the second time too."""
    asked: list[bool] = []
    alone = isolated_user(world)
    for user in (alone.user, alone.user, alone.beside().user, alone.user):
        before = world.merchant.last_received() if world.merchant is not None else 0
        attempt = world.attempt(resource=alone.resource, user=user)
        browser = gateway.browser()
        url = gateway.authorization_url(attempt)
        visit = gateway.record_secrets(browser.visit(url, attempt.agent.redirect_uri, user, approve=True))
        if not visit.codes():
            raise LeftOut(f"a sign-in gave no code: {visit.outcome()}")
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
    """Whoever planted its cookies in a browser before the user signed in there is not signed in afterwards.

    The planted cookies are the gateway's own, as they were before the sign-in. What shows that a browser is
    signed in is a code for a user who types a wrong password.
    """
    user, attacker, victim = world.users[0], gateway.browser(), gateway.browser()
    wrong = _with_password(gateway, user, "gateproof-wrong-password")
    gateway.record_secrets(attacker.look(gateway.authorization_url(world.attempt(user=user)), user))
    if case == "opened-and-tried":
        _require_the_fake(world, approves(gateway, world, gateway.browser(), world.agents.new(), user))
        _visit(gateway, world, attacker, wrong)
    victim.copy_cookies(attacker, gateway.hosts())
    _require_the_fake(world, approves(gateway, world, victim, world.agents.new(), user))
    kept = _visit(gateway, world, victim, wrong)
    if not kept.codes():
        raise LeftOut("a browser does not stay signed in: there is nothing that a cookie could carry")

    visit = _visit(gateway, world, attacker, wrong)
    no_code(visit, "authorization in a browser that holds the cookies of before the sign-in")


def _require_the_fake(world: World, visit: Visit) -> None:
    """Many wrong passwords are typed on pages of the harness's own merchant only: others lock accounts."""
    merchant = origin(world.merchant_api or "")
    if not any(origin(page) == merchant for page in visit.acted_on):
        raise LeftOut("the user does not sign in on a page of the harness's own merchant")


def _with_password(gateway: Gateway, user: User, password: str) -> User:
    return replace(user, password=gateway.keyring.secret("wrong_password", password))


def _visit(gateway: Gateway, world: World, browser: Browsing, user: User) -> Visit:
    """This user does all that is asked for, for an agent that is new."""
    attempt = world.attempt(user=user)
    url = gateway.authorization_url(attempt)
    return gateway.record_secrets(browser.visit(url, attempt.agent.redirect_uri, user, approve=True))
