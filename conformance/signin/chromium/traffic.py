"""What one real browser asks for goes over the harness's own wire, or nowhere."""

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
# What a page of another site can have a browser send without asking: anything else is the page's own doing.
_UNREMARKABLE = frozenset(
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
# A question that is left open on purpose, so as to be told of news, is no loading.
_LOADING_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _UnderWay:
    since: float
    is_page: bool


class Traffic:
    """Sends what the browser asks for, keeps count, and remembers where the browser was sent away to.

    The browser's questions come from many threads at once. What the wire raises is kept for whoever waits for
    the page: the browser would only see a broken connection.
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
        # Since when the browser has a redirect that it has not followed yet.
        self._sent_on: float | None = None
        self.lost: str | None = None
        self.trouble: BaseException | None = None
        # Where questions are watched: the first that no other site's page could have had sent.
        self.watched = False
        self.inimitable: str | None = None

    def begin(self) -> None:
        """From here on the browser may ask; nothing is left of what came before."""
        self._open = True
        self.status = None
        self.expect()

    def expect(self) -> None:
        """The user is about to act: what comes of it is told from what came before."""
        self.away = self.lost = self.trouble = self._sent_on = None
        self._sent_to = ""

    def end(self) -> None:
        """From here on nothing goes out, whatever a page still has in mind."""
        self._open = False

    def is_loading(self) -> bool:
        """True while an answer is due that the page waits for."""
        now = time.monotonic()
        with self._lock:
            if self._sent_on is not None and now - self._sent_on < _LOADING_S:
                return True
            return any(each.is_page or now - each.since < _LOADING_S for each in self._under_way.values())

    def answer(self, request: Request) -> Answer | None:
        """What the browser is answered; None where it is to see a connection that was closed."""
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
            if self.watched and self.inimitable is None and not _imitable(request):
                self.inimitable = without_query(request.url)
        try:
            return self._answered(request, is_page=is_page)
        except Exception as error:  # noqa: BLE001 - whoever waits for the page raises it again
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
        """Where a server has sent the browser here, that is its end, and no page need be shown for it.

        Where a page has, only its window knows the whole address: what stands behind the # is not asked for.
        """
        if self._sent_to.partition("#")[0] != url:
            return _BEYOND
        self.away = self._sent_to
        self._sent_on = None
        return _STAY

    def _see(self, url: str, answer: Answer) -> Answer:
        """The answer with a number on it: by that a document says which answer it came with."""
        location = answer.header("Location")
        if answer.status in _REDIRECTS and location is not None:
            self._sent_to = _inherited(resolve(url, location), self._sent_to)
            if not is_web(self._sent_to):
                # The browser would hand this address to another program, if it were not alone.
                self.away = self._sent_to
            self._sent_on = time.monotonic()
            return answer
        if answer.status in _NO_PAGE:
            return answer
        self.status = answer.status
        self.scripted = b"<script" in answer.body.lower() or answer.header("Refresh") is not None
        self.due += 1
        return replace(answer, headers=(*answer.headers, ("Server-Timing", f"gateproof;desc={self.due}")))


# Nothing listens there, as far as this browser is concerned; the address is all that is wanted.
_BEYOND = Answer(
    status=403,
    headers=(("Content-Type", "text/html"), ("X-Content-Type-Options", "nosniff")),
    body=b"<!doctype html><title>Beyond reach</title><p>This run does not go there.",
)

_STAY = Answer(status=204)
# What browsers ask for on their own account, and no user waits for.
_ICON = "/favicon.ico"
_NO_ICON = Answer(status=404)


def _inherited(target: str, before: str) -> str:
    """An address without a part behind the # takes over the one of the address that led to it."""
    return target if "#" in target or "#" not in before else f"{target}#{before.partition('#')[2]}"


def _is_page(request: Request) -> bool:
    """True for what the address bar asks for; on plain http, browsers do not say so themselves."""
    names = {name.lower(): value for name, value in request.headers}
    if "sec-fetch-dest" in names:
        return names["sec-fetch-dest"] == "document"
    return names.get("accept", "").startswith("text/html")


def _imitable(request: Request) -> bool:
    """True for what a page of any site could have this browser send."""
    names = {name.lower(): value for name, value in request.headers}
    if request.method in {"GET", "HEAD"} or names.get("sec-fetch-mode") == "navigate":
        return True
    kind = names.get("content-type", "").partition(";")[0].strip().lower()
    own = {name for name in names if name not in _UNREMARKABLE and not name.startswith("sec-")}
    return request.method == "POST" and not own and (not kind or kind in ENCTYPES)


def address_of(scheme: str, place: str, target: str) -> str:
    """The absolute address of a request, written as the browser's address bar has it."""
    default = {"https": ":443", "http": ":80"}[scheme]
    return f"{scheme}://{place.removesuffix(default)}{target}" if target.startswith("/") else target


def host_of(url: str) -> str:
    return urlsplit(url).netloc
