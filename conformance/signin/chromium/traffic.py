"""Sends all requests of one browser over the harness's wire."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateproof.conformance.signin.addresses import is_web, resolve, without_query
from gateproof.conformance.signin.controls import ENCTYPES
from gateproof.conformance.wire.exchange import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateproof.conformance.signin.browser import Send

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_PAGE = frozenset({204, 205})
# Headers that a cross-site page can cause a browser to send; others come from the page's own scripts.
_CROSS_SITE_HEADERS = frozenset(
    {
        "accept",
        "accept-language",
        "cache-control",
        "content-language",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "origin",
        "pragma",
        "priority",
        "referer",
        "save-data",
        "upgrade-insecure-requests",
        "user-agent",
    }
)
# A long poll counts as loading for this time only.
_LOADING_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _UnderWay:
    since: float
    is_page: bool


class Traffic:
    """Sends the browser's requests, counts them, and remembers the URL to which it was sent away.

    Requests come from several threads. Exceptions of the wire are kept and raised for the caller that waits
    for the page: the browser would only see a broken connection.
    """

    def __init__(self, send: Send, may_visit: Callable[[str], bool]) -> None:
        self._send = send
        self.may_visit = may_visit
        self._lock = threading.Lock()
        self._under_way: dict[int, _UnderWay] = {}
        self._open = True
        self.hops: list[str] = []
        self.asked = 0
        self.due = 0
        self.status: int | None = None
        self.scripted = False
        self.away: str | None = None
        self._sent_to = ""
        # Time of a redirect that the browser has not followed yet.
        self._sent_on: float | None = None
        self.lost: str | None = None
        self.trouble: BaseException | None = None
        # If requests are watched: the first one that a cross-site page could not have sent.
        self.watched = False
        self.same_site_only: str | None = None

    def begin(self) -> None:
        """Allows requests, and resets the state."""
        self._open = True
        self.status = None
        self.expect()

    def expect(self) -> None:
        """Call this before a user action: resets the results of earlier ones."""
        self.away = self.lost = self.trouble = self._sent_on = None
        self._sent_to = ""

    def end(self) -> None:
        """Blocks all further requests."""
        self._open = False

    def is_loading(self) -> bool:
        """True while the page waits for an answer."""
        now = time.monotonic()
        with self._lock:
            if self._sent_on is not None and now - self._sent_on < _LOADING_S:
                return True
            return any(each.is_page or now - each.since < _LOADING_S for each in self._under_way.values())

    def answer(self, request: Request) -> Answer | None:
        """The answer for the browser; None to close the connection."""
        is_page = _is_page(request)
        if not self.may_visit(request.url):
            return self._beyond(request.url) if is_page else _BEYOND
        if urlsplit(request.url).path == _ICON:
            return _NO_ICON
        if not self._open:
            return None
        with self._lock:
            self.asked += 1
            number = self.asked
            self._under_way[number] = _UnderWay(since=time.monotonic(), is_page=is_page)
            if is_page:
                self._sent_on = None
                self.hops.append(without_query(request.url))
            if self.watched and self.same_site_only is None and not _possible_cross_site(request):
                self.same_site_only = without_query(request.url)
        try:
            return self._answered(request, is_page=is_page)
        except Exception as error:  # noqa: BLE001 - raised again for the caller that waits
            self.trouble = error
            return None
        finally:
            with self._lock:
                del self._under_way[number]

    def _answered(self, request: Request, *, is_page: bool) -> Answer | None:
        exchange = self._send(request)
        answer = exchange.answer
        if answer is None:
            if is_page:
                self.lost = exchange.failure or "no answer"
            return None
        return self._see(request.url, answer) if is_page else answer

    def _beyond(self, url: str) -> Answer:
        """The answer for a page request outside the run.

        After a redirect, the navigation ends without a page. If a script or link caused it, only the window
        knows the whole URL with its fragment.
        """
        if self._sent_to.partition("#")[0] != url:
            return _BEYOND
        self.away = self._sent_to
        self._sent_on = None
        return _STAY

    def _see(self, url: str, answer: Answer) -> Answer:
        """Adds a number to the answer, so that a document can be matched with its answer."""
        location = answer.header("Location")
        if answer.status in _REDIRECTS and location is not None:
            self._sent_to = _inherited(resolve(url, location), self._sent_to)
            if not is_web(self._sent_to):
                # The browser would pass this URL to another program.
                self.away = self._sent_to
            self._sent_on = time.monotonic()
            return answer
        if answer.status in _NO_PAGE:
            return answer
        self.status = answer.status
        self.scripted = b"<script" in answer.body.lower() or answer.header("Refresh") is not None
        self.due += 1
        return replace(answer, headers=(*answer.headers, ("Server-Timing", f"gateproof;desc={self.due}")))


# The answer for URLs outside the run; only the URL is of interest.
_BEYOND = Answer(
    status=403,
    headers=(("Content-Type", "text/html"), ("X-Content-Type-Options", "nosniff")),
    body=b"<!doctype html><title>Beyond reach</title><p>This run does not go there.",
)

_STAY = Answer(status=204)
# Requested by browsers themselves, not by pages.
_ICON = "/favicon.ico"
_NO_ICON = Answer(status=404)


def _inherited(target: str, before: str) -> str:
    """A redirect target without a fragment inherits the fragment of the URL before."""
    return target if "#" in target or "#" not in before else f"{target}#{before.partition('#')[2]}"


def _is_page(request: Request) -> bool:
    """True for a top-level page request; on plain http, browsers do not mark it themselves."""
    names = {name.lower(): value for name, value in request.headers}
    if "sec-fetch-dest" in names:
        return names["sec-fetch-dest"] == "document"
    return names.get("accept", "").startswith("text/html")


def _possible_cross_site(request: Request) -> bool:
    """True if a page of any site could make the browser send this request."""
    names = {name.lower(): value for name, value in request.headers}
    if request.method in {"GET", "HEAD"} or names.get("sec-fetch-mode") == "navigate":
        return True
    kind = names.get("content-type", "").partition(";")[0].strip().lower()
    own = {name for name in names if name not in _CROSS_SITE_HEADERS and not name.startswith("sec-")}
    return request.method == "POST" and not own and (not kind or kind in ENCTYPES)


def address_of(scheme: str, place: str, target: str) -> str:
    """The absolute URL of a request, without the default port."""
    default = {"https": ":443", "http": ":80"}[scheme]
    return f"{scheme}://{place.removesuffix(default)}{target}" if target.startswith("/") else target


def host_of(url: str) -> str:
    return urlsplit(url).netloc
