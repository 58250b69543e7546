"""Sessions, and protection against requests from other sites."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.ids import fingerprint
from gateproof.reference.site.markup import Html, octets
from gateproof.reference.web import form_of

Contents = TypeVar("Contents")
MOST_SESSIONS = 1000
IDLE_S = 3600.0
STYLE = (Path(__file__).parent / "style.css").read_bytes()
ICON = (Path(__file__).parent / "icon.svg").read_bytes()
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Not no-referrer: that would make the Origin of our own forms `null`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(kw_only=True, slots=True)
class Session(Generic[Contents]):
    """The session of one browser; its token is in every form (CSRF)."""

    key: str = field(repr=False)
    token: str = field(repr=False)
    contents: Contents
    seen_at: float


class Sessions(Generic[Contents]):
    """Sessions by cookie fingerprint, least recently used first."""

    def __init__(
        self, *, origin: str, name: str, same_site: str, now: Callable[[], float] = time.monotonic
    ) -> None:
        # With the port: cookies ignore ports, and several sites may share an address.
        self._cookie = f"__Host-{name}-{urlsplit(origin).port}"
        self._same_site = same_site
        self._now = now
        self._known: OrderedDict[str, Session[Contents]] = OrderedDict()

    def of(self, request: Request) -> Session[Contents] | None:
        """The session of this browser; None after one hour of inactivity."""
        cookie = request.cookies.get(self._cookie)
        session = self._known.get(fingerprint(cookie)) if cookie else None
        if session is None or self._now() - session.seen_at > IDLE_S:
            return None
        session.seen_at = self._now()
        self._known.move_to_end(session.key)
        return session

    def begin(self, contents: Contents) -> tuple[Session[Contents], Mapping[str, str]]:
        """A new session, and the header that sets its cookie."""
        cookie = secrets.token_urlsafe(32)
        session = Session(
            key=fingerprint(cookie),
            token=secrets.token_urlsafe(32),
            contents=contents,
            seen_at=self._now(),
        )
        self._known[session.key] = session
        while len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        written = f"{self._cookie}={cookie}; Path=/; Secure; HttpOnly; SameSite={self._same_site}"
        return session, {"set-cookie": written}

    def end(self, session: Session[Contents]) -> None:
        self._known.pop(session.key, None)


class Guard:
    """Accepts only requests for this origin that no other site sent, and adds security headers to answers.

    The check of the Host header prevents DNS rebinding.
    """

    def __init__(self, app: ASGIApp, *, origin: str) -> None:
        self._app, self._origin = app, origin
        self._netloc = urlsplit(origin).netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        given = Request(scope).headers
        app: ASGIApp = self._app
        if given.get("host") != self._netloc:
            app = Response("the Host header names another address", 421)
        elif scope["method"] == "POST" and given.get("origin", self._origin) != self._origin:
            app = Response("sent by another site", 403)
        await app(scope, receive, sending)


async def trusted_form(request: Request, token: str) -> dict[str, str]:
    """The fields of a form with this session's token; else 403."""
    fields = dict(await form_of(request) or ())
    if not hmac.compare_digest(fields.pop("csrf", "").encode("utf-8", "replace"), token.encode()):
        raise HTTPException(403)
    return fields


def shown(html: Html, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(octets(html), status, headers, media_type="text/html")


def redirect_to(to: str, headers: Mapping[str, str] | None = None) -> Response:
    """Redirects after an action, so that a reload does not repeat it."""
    return Response(b"", 303, {**(headers or {}), "location": to})


def assets() -> list[Route]:
    """The stylesheet and the icon."""

    async def style(_request: Request) -> Response:
        return Response(STYLE, media_type="text/css")

    async def icon(_request: Request) -> Response:
        return Response(ICON, media_type="image/svg+xml")

    return [Route("/style.css", style, methods=["GET"]), Route("/icon.svg", icon, methods=["GET"])]
