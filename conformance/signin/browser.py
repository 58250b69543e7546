"""The harness's own browser: cookies, redirects, pages and forms, but no scripts."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gateproof.conformance.signin.addresses import is_web, resolve, same_origin, without_query
from gateproof.conformance.signin.cookies import Jar
from gateproof.conformance.signin.fetch_metadata import fetch_metadata
from gateproof.conformance.signin.markup import read_page
from gateproof.conformance.signin.page import Page
from gateproof.conformance.signin.referrer import origin_header, referer
from gateproof.conformance.signin.submission import Submission, submit
from gateproof.conformance.wire.exchange import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gateproof.conformance.signin.page import Button, Form, Refresh
    from gateproof.conformance.wire.exchange import Answer, Exchange

MOST_REDIRECTS = 20
# Time limits for pages that reload themselves: in total, for a page that did not change during an earlier
# wait, and for one pause; and the shortest pause.
LONGEST_S, KNOWN_S, LONGEST_PAUSE_S, AGAIN_AFTER_S = 35.0, 3.0, 10.0, 0.5
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class Send(Protocol):
    """Sends one request without following redirects."""

    def __call__(self, request: Request, /) -> Exchange: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Redirected:
    """The URL to which the browser was sent and which it must not open."""

    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NoPage:
    """A navigation that did not end on a page."""

    reason: str


View = Page | Redirected | NoPage


class Waiting:
    """Limits the time for pages without a form that redirect or reload themselves after a while.

    A sign-in should not wait longer than thirty seconds. If an earlier wait for a page did not help, for
    example a page for Pending agents, the next wait for it is short.
    """

    def __init__(self) -> None:
        self._in_vain: set[str] = set()

    def is_over(self, page: Page, waited_s: float) -> bool:
        """True if the time for this page and the ones before it is over."""
        if page.forms or page.status >= 400:
            return True
        over = waited_s > (KNOWN_S if page.text in self._in_vain else LONGEST_S)
        if over:
            self._in_vain.add(page.text)
        return over


class Browser:
    """One browser with its own cookies; it only opens URLs that `may_visit` allows."""

    changes_hidden = True

    def __init__(
        self,
        *,
        send: Send,
        may_visit: Callable[[str], bool],
        now: Callable[[], float] = time.time,
        waiting: Waiting | None = None,
    ) -> None:
        self._send = send
        self._may_visit = may_visit
        self._waiting = waiting or Waiting()
        self.cookies = Jar(now)
        self.hops: list[str] = []

    def open(self, url: str, *, approves: bool = True) -> View:  # noqa: ARG002 - only scripts open dialogs
        """Opens a URL as if the user had typed it."""
        return self._navigate(Submission(method="GET", url=url), None)

    def submit(self, page: Page, form: Form, pressed: Button | None = None) -> View:
        """Submits a form of this page, with this button if there is one."""
        return self._navigate(submit(form, pressed), page)

    def copy_cookies(
        self,
        other: Browser,
        hosts: frozenset[str],
        /,
        *,
        names: Collection[str] | None = None,
        changed: Callable[[str], str] = str,
    ) -> None:
        """Puts the cookies of these hosts from another browser into this one; those with these names only."""
        self.cookies.copy(other.cookies, hosts, names, changed)

    def take_over(self, one: Browser, /) -> None:
        """Nothing to do: a page is a value that another browser can continue with."""

    def rest(self, *, stuck: bool) -> str:  # noqa: ARG002 - there is nothing to take a picture of
        """Nothing to do: without scripts, nothing runs in the background."""
        return ""

    def _navigate(self, going: Submission, source: Page | None) -> View:
        """Follows redirects and refreshes up to a page or to a URL that must not be opened."""
        crossed, waited_s, shown = False, 0.0, 0
        visited: list[str] = []
        while shown < MOST_REDIRECTS:
            shown += 1
            if not is_web(going.url) or not self._may_visit(going.url):
                return Redirected(url=going.url)
            exchange = self._send(self._request(going, source, visited, crossed=crossed))
            self.hops.append(without_query(going.url))
            visited.append(going.url)
            answer = exchange.answer
            if answer is None:
                return NoPage(reason=exchange.failure or "no answer")
            self.cookies.store(going.url, answer.headers_named("Set-Cookie"))
            after = _redirect(going, answer)
            if after is None:
                page = read_page(going.url, answer)
                if page.refresh is None:
                    return page
                pause_s = _pause_s(page.url, page.refresh)
                if pause_s:
                    waited_s, shown = waited_s + pause_s, 0
                    if pause_s > LONGEST_PAUSE_S or self._waiting.is_over(page, waited_s):
                        return page
                    time.sleep(pause_s)
                after, source, visited = Submission(method="GET", url=page.refresh.url), page, []
            crossed = crossed or not same_origin(going.url, after.url)
            going = after
        return NoPage(reason=f"more than {MOST_REDIRECTS} redirects in a row")

    def _request(
        self, going: Submission, source: Page | None, visited: Sequence[str], *, crossed: bool
    ) -> Request:
        url = going.url.partition("#")[0]
        headers = [("Accept", _ACCEPT), ("Accept-Language", "en-GB,en;q=0.9")]
        if going.content_type is not None:
            headers.append(("Content-Type", going.content_type))
        if source is not None:
            told = referer(source.referrer_policy, source.url, url)
            headers += [("Referer", told)] if told is not None else []
            if going.method == "POST":
                # After a redirect to another origin, browsers send Origin: null.
                named = "null" if crossed else origin_header(source.referrer_policy, source.url, url)
                headers.append(("Origin", named))
        headers += fetch_metadata(url, None if source is None else source.url, visited)
        cookie = self.cookies.header(url)
        if cookie is not None:
            headers.append(("Cookie", cookie))
        return Request(method=going.method, url=url, headers=tuple(headers), body=going.body)


def _pause_s(url: str, refresh: Refresh) -> float:
    """The pause before a refresh; a page that reloads itself has a minimum."""
    return max(refresh.after_s, AGAIN_AFTER_S) if refresh.url == url else refresh.after_s


def _redirect(going: Submission, answer: Answer) -> Submission | None:
    """The next request of a redirect: 307 and 308 keep method and body, others change POST to GET."""
    location = answer.header("Location")
    if answer.status not in {301, 302, 303, 307, 308} or location is None:
        return None
    with suppress(UnicodeError):
        # Headers are decoded as Latin-1, but URLs in them are UTF-8.
        location = location.encode("latin-1").decode("utf-8")
    url = resolve(going.url, location)
    if "#" not in url and "#" in going.url:
        url += "#" + going.url.partition("#")[2]
    if answer.status in {307, 308}:
        return Submission(method=going.method, url=url, body=going.body, content_type=going.content_type)
    return Submission(method="GET", url=url)
