"""Addresses that an agent registers, and errors that the merchant sends, are text on the gateway's pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

from gateproof.conformance.checks.gateway._markup import PAYLOADS, is_no_markup, new_mark
from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._visits import visit_with
from gateproof.conformance.checks.gateway.authz_markup import MISTAKES
from gateproof.conformance.kit.gateway.gateway import CALLBACK, BeyondReach, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut

# A single quote is legal in a URI; double quotes and brackets are not, and many gateways refuse them.
ADDRESSES: Mapping[str, Callable[[str], str]] = {
    "single-quotes": lambda mark: f"?x='/{mark}='1",
    "double-quotes": lambda mark: f'?x="><{mark}>',
}
# Metadata of an agent that a page may link to or show (RFC 7591 section 2).
LINKS = ("client_uri", "logo_uri", "tos_uri", "policy_uri")
ERRORS: Mapping[str, Callable[[str], Mapping[str, str]]] = {
    "error": lambda text: {"error": text},
    "error-description": lambda text: {"error": "access_denied", "error_description": text},
}


@check("AUTHZ-23", needs=["sign-in:browser"], cases=ADDRESSES)
def registered_redirect_uri_is_no_markup(gateway: Gateway, world: World, case: Callable[[str], str]) -> None:
    """Markup in a registered redirect URI is text on the pages, on error pages as well."""
    mark = new_mark()
    _asked_twice(world, {"redirect_uris": [CALLBACK + case(mark)]})

    is_no_markup(gateway, world, mark, "a registered redirect URI")


@check("AUTHZ-23", needs=["sign-in:browser"], cases=ADDRESSES)
def other_addresses_of_an_agent_are_no_markup(
    gateway: Gateway, world: World, case: Callable[[str], str]
) -> None:
    """Markup in the addresses of an agent's site, logo and terms is text on the pages."""
    mark = new_mark()
    _asked_twice(world, {name: f"https://agent.example/{case(mark)}" for name in LINKS})

    is_no_markup(gateway, world, mark, "an agent's addresses")


@check("AUTHZ-23", needs=["sign-in:browser", "merchant"], cases=ERRORS)
def error_of_the_merchant_is_no_markup(
    gateway: Gateway, world: World, case: Callable[[str], Mapping[str, str]]
) -> None:
    """Markup in the merchant's `error` and `error_description` is text on the page after a failed sign-in."""
    begun = openid_sign_in(world).alone
    for payload in PAYLOADS.values():
        mark, browser = new_mark(), gateway.browser()
        attempt = world.attempt(resource=begun.resource, user=begun.user)
        with suppress(BeyondReach):
            browser.look(gateway.authorization_url(attempt), begun.user)
        asked = [entry for entry in begun.received() if entry.endpoint == "authorization"][-1].sent
        said = {**case(payload(mark)), "state": asked.get("state", "")}
        joint = "&" if "?" in asked["redirect_uri"] else "?"
        with suppress(BeyondReach):
            browser.look(f"{asked['redirect_uri']}{joint}{urlencode(said, quote_via=quote)}", begun.user)

        is_no_markup(gateway, world, mark, "an error of the merchant")


def _asked_twice(world: World, metadata: Mapping[str, Any]) -> None:
    """Registers an agent with this metadata; its user authorizes it twice, and it makes wrong requests."""
    registered = world.gateway.register({**world.agents.metadata(), **metadata})
    if registered.status in range(400, 500):
        raise LeftOut("the gateway does not accept an agent with such an address")
    here, agent = world.in_one_browser(), world.agents.of(registered)
    for _ in range(2):
        # The second time the user is signed in, and the pages may be different.
        here.gateway.visit(here.attempt(agent), wherever=True)
    for name, value in MISTAKES.items():
        visit_with(here, here.attempt(agent), **{name: value})
