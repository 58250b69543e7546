"""A sign-in page of the gateway itself, instead of the merchant's identity provider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.handlers.browser import browser_key, fresh_browser, page
from gateproof.reference.gateway.handlers.consent import ask
from gateproof.reference.gateway.records import Person
from gateproof.reference.ids import fingerprint
from gateproof.reference.web import form_of

_PAGE = """<!doctype html><title>Sign in</title><h1>Sign in</h1>
<form method="post" action="{action}"><input type="hidden" name="ticket" value="{ticket}">
<p><label>Login <input name="login" autocomplete="username"></label></p>
<p><label>Password <input name="password" type="password"></label></p>
<p><button type="submit">Sign in</button></p></form>"""
_SUFFIX = "/sign-in/own"
# Whether the gateway shows its own page to a browser, and whether it accepts a login.
Shown = Callable[[Gateway, Request], bool]
Takes = Callable[[Gateway, str], bool]


def own_sign_in_page(shown: Shown, takes: Takes) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Shows its own page instead of the redirect to the merchant, and accepts any password."""

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            if request.method == "POST" and request.url.path.endswith(_SUFFIX):
                await (await _signed_in(gateway, request, takes))(scope, receive, send)
                return
            sent: list[Message] = []

            async def keep(message: Message) -> None:
                sent.append(message)

            await app(scope, receive, keep)
            ticket = _ticket(sent) if request.url.path.endswith("/oauth2/auth") else None
            if ticket is not None and shown(gateway, request):
                cookies = [value for name, value in sent[0]["headers"] if name.lower() == b"set-cookie"]
                action = f"{request.url.path.removesuffix('/oauth2/auth')}{_SUFFIX}"
                html = _PAGE.format(action=escape(action), ticket=escape(ticket))
                cookie = {"set-cookie": cookies[0].decode()} if cookies else {}
                await page(gateway, html, cookie=cookie)(scope, receive, send)
                return
            for message in sent:
                await send(message)

        return served

    return around


def _ticket(sent: list[Message]) -> str | None:
    """The state of the redirect to the merchant; None for any other answer."""
    headers: dict[bytes, bytes] = dict(sent[0]["headers"])
    location = headers.get(b"location", b"").decode("latin-1")
    query = dict(parse_qsl(urlsplit(location).query))
    return query.get("state") if "nonce" in query else None


async def _signed_in(gateway: Gateway, request: Request, takes: Takes) -> Response:
    form: dict[str, Any] = dict(await form_of(request) or ())
    ticket, login = form.get("ticket", ""), form.get("login", "")
    sign_in = gateway.store.sign_ins.take(fingerprint(ticket))
    resource = gateway.store.resources.get(sign_in.resource_id) if sign_in is not None else None
    if (
        sign_in is None
        or resource is None
        or not gateway.policies.same_browser(sign_in, browser_key(gateway, request))
    ):
        return page(gateway, "<!doctype html><title>Over</title><p>Start again.</p>", 400)
    if not takes(gateway, login):
        gateway.store.sign_ins.add(fingerprint(ticket), sign_in, gateway.clock.now())
        return page(gateway, _PAGE.format(action=escape(request.url.path), ticket=escape(ticket)), 401)
    person = Person(
        login_id=login, preferred_username=login, email=None, amr=("pwd",), signed_in_at=gateway.clock.now()
    )
    browser = fresh_browser(gateway, {gateway.policies.session_of(resource): person})
    sign_in = replace(sign_in, browser=browser.key, person=person)
    return await ask(gateway, resource, sign_in, was_signed_in=False, cookie=browser.cookie)
