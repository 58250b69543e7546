"""Answers for browsers: pages, redirects, and the session cookie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.pages import error_page
from gateproof.reference.gateway.records import Person
from gateproof.reference.ids import fingerprint


@dataclass(frozen=True, kw_only=True, slots=True)
class Browser:
    """A browser in the store, and the cookie to set if it is new."""

    key: str
    people: dict[str, Person] = field(repr=False)
    cookie: Mapping[str, str] = field(default_factory=dict, repr=False)


def cookie_name(gateway: Gateway) -> str:
    """The cookie's name, with the port: cookies ignore ports, and gateways may share an address."""
    return f"gateway_browser_{urlsplit(gateway.base_url).port or 'default'}"


def browser_key(gateway: Gateway, request: Request) -> str | None:
    """The fingerprint of the browser's cookie, known or not."""
    cookie = request.cookies.get(cookie_name(gateway))
    return fingerprint(cookie) if cookie else None


def known_browser(gateway: Gateway, request: Request) -> Browser:
    """The browser of a request; an unknown cookie counts as none."""
    key = browser_key(gateway, request)
    people = gateway.store.browsers.get(key) if key else None
    return fresh_browser(gateway, {}) if key is None or people is None else Browser(key=key, people=people)


def fresh_browser(gateway: Gateway, people: dict[str, Person]) -> Browser:
    secret = gateway.ids.secret()
    key = fingerprint(secret)
    gateway.store.browsers.add(key, people, gateway.clock.now())
    secure = "; Secure" if gateway.base_url.startswith("https:") else ""
    cookie = (
        f"{cookie_name(gateway)}={secret}; Path={gateway.base_path or '/'}; HttpOnly; SameSite=Lax{secure}"
    )
    return Browser(key=key, people=people, cookie={"set-cookie": cookie})


def page(gateway: Gateway, html: str, status: int = 200, cookie: Mapping[str, str] | None = None) -> Response:
    headers = {**gateway.policies.page_headers, **(cookie or {})}
    # A name may contain a lone surrogate, which UTF-8 cannot represent.
    return Response(html.encode("utf-8", "replace"), status, headers, media_type="text/html")


def error(gateway: Gateway, what: str, status: int = 400) -> Response:
    return page(gateway, error_page(what), status)


def redirect(gateway: Gateway, location: str, cookie: Mapping[str, str] | None = None) -> Response:
    # Not Starlette's redirect, which would encode the location again.
    status = gateway.policies.redirect_status
    return Response(b"", status, {**gateway.policies.page_headers, **(cookie or {}), "location": location})
