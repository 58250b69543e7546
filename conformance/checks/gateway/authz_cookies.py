"""The gateway's session cookies are Secure and HttpOnly."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gateproof.conformance.checks.gateway._visits import approves
from gateproof.conformance.kit.gateway.gateway import Browsing, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import origin

WANTED = ("secure", "httponly")


@dataclass(frozen=True, kw_only=True, slots=True)
class SetCookie:
    """A cookie that an answer sets."""

    name: str
    attributes: dict[str, str]

    def lacks(self) -> list[str]:
        """The attributes of a session cookie that are missing."""
        return [name for name in WANTED if name not in self.attributes]


@check("AUTHZ-27", needs=["sign-in:browser"])
def cookies_of_a_sign_in_are_secure_and_http_only(gateway: Gateway, world: World) -> None:
    """Each cookie that is necessary, or alone sufficient, for a signed-in browser is Secure and HttpOnly.

    Other cookies may lack them. The cookies are read after a sign-in and after an authorization in the
    signed-in browser.
    """
    user, browser = world.users[0], gateway.browser()
    open_ones: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for _ in range(2):
        before = len(world.seen())
        approves(gateway, world, browser, world.agents.new(), user)
        for cookie in _last_of_each(gateway, world.seen()[before:]):
            names[cookie.name] = cookie.attributes.get("samesite", "none stated")
            if cookie.lacks():
                open_ones.setdefault(cookie.name, cookie.lacks())
    if not names:
        raise LeftOut("no cookie of the gateway was seen in a sign-in")
    observe(same_site=", ".join(sorted(set(names.values()))))

    if open_ones:
        bearing = _carrying_a_sign_in(gateway, world, browser, user, names, open_ones)
        open_ones = {name: lacks for name, lacks in open_ones.items() if name in bearing}
    expect.that(
        not open_ones,
        "cookies that carry a sign-in",
        expected="Secure and HttpOnly",
        got="; ".join(f"{name} without {' and '.join(lacks)}" for name, lacks in open_ones.items()),
    )


def _carrying_a_sign_in(
    gateway: Gateway,
    world: World,
    browser: Browsing,
    user: User,
    names: Collection[str],
    suspects: Iterable[str],
) -> set[str]:
    """Those of the suspects that are necessary, or alone sufficient, for a signed-in browser."""

    def signed_in(copied: Collection[str]) -> bool | None:
        """True if the user is not asked for a password; None if the authorization gives no code."""
        other = gateway.browser()
        other.copy_cookies(browser, gateway.hosts(), names=frozenset(copied))
        attempt = world.attempt(user=user)
        url = gateway.authorization_url(attempt)
        visit = other.visit(url, attempt.agent.redirect_uri, user, approve=True)
        return not visit.passwords if gateway.record_secrets(visit).codes() else None

    if signed_in(()) is not False:
        raise LeftOut("the user is asked for no password, not even in a new browser")
    if not signed_in(names):
        raise LeftOut("a browser does not stay signed in: there is no session cookie")
    bearing = set()
    for name in suspects:
        if signed_in({name}):
            bearing.add(name)
        elif signed_in([other for other in names if other != name]) is False:
            if not signed_in(names):
                raise LeftOut("a session ends when it is used, so its cookie cannot be identified")
            bearing.add(name)
    return bearing


def _last_of_each(gateway: Gateway, seen: Iterable[Exchange]) -> list[SetCookie]:
    """The cookies of the gateway, each as it was set last; deleted ones are left out."""
    homes = {origin(gateway.base_url), origin(gateway.core_url)}
    found: dict[str, SetCookie] = {}
    for exchange in seen:
        if exchange.answer is None or origin(exchange.request.url) not in homes:
            continue
        for header in exchange.answer.headers_named("Set-Cookie"):
            pair, *rest = header.split(";")
            name, _, value = (part.strip() for part in pair.partition("="))
            attributes = {key.strip().lower(): text.strip().lower() for key, _, text in _pairs(rest)}
            found.pop(name, None)
            if value and attributes.get("max-age") != "0":
                found[name] = SetCookie(name=name, attributes=attributes)
    return list(found.values())


def _pairs(attributes: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    return (each.partition("=") for each in attributes)
