"""What the user's browser did in one launch: where it was sent, and what it brought back."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from gateproof.conformance.kit.agent.addresses import is_masked
from gateproof.conformance.kit.agent.browser import Courier, is_here
from gateproof.conformance.kit.agent.world import CLEAR, AgentWorld
from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import DEFAULT_USERS
from gateproof.conformance.wire.client import RateLimited, TargetSilent, Wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.route import parts_of
from gateproof.conformance.wire.secret import Secret

# An agent that prints the address may be about to open it as well.
_OPENS_ITSELF_WITHIN_S = 1.5
_PAGE_S = 10.0
_POLL_S = 0.01
# Nobody types more addresses than this at one moment.
_AT_ONCE = 10
_ANSWERS_WITHIN_S = 1.0
# A page of the harness's own fakes that is on its way when a run ends comes within a moment.
_LAST_PAGE_S = 1.0
# What an address may hold (RFC 3986), but for the quote that ends one more often; and what ends a sentence.
_ADDRESS, _BEHIND_IT = r"[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]*", ".,:;!?*)]}"
Deliver = Callable[["Visit", str, Courier], None]
How = Literal["opened", "printed"]


@dataclass(kw_only=True, slots=True)
class Visit:
    """One address that the user went to; `brought` are redirects that went to the agent, `pages` its own."""

    number: int
    url: str = field(repr=False)
    how: How
    redirect: str | None = field(default=None, repr=False)
    brought: list[str] = field(default_factory=list, repr=False)
    statuses: list[int | None] = field(default_factory=list)
    pages: list[bytes] = field(default_factory=list, repr=False)

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.url).query, keep_blank_values=True)

    def codes(self) -> list[str]:
        """The codes in the redirects that went to the agent."""
        return [code for url in self.brought for code in codes_in(url)]

    def elsewhere(self) -> str | None:
        """The host that a redirect was for, where that is not this machine: it was not brought there."""
        hosts = (urlsplit(url).hostname for url in self.brought)
        return next((host for host in hosts if host and not is_here(host)), None)

    def value(self, name: str) -> str | None:
        """A parameter of the address that is there once."""
        found = self.query.get(name, [])
        return found[0] if len(found) == 1 else None


def honest(visit: Visit, redirect: str, courier: Courier) -> None:
    """The redirect goes to the agent as it came."""
    bring(visit, redirect, courier)


def bring(visit: Visit, redirect: str, courier: Courier) -> None:
    """One redirect goes to the agent, and is written down."""
    visit.brought.append(redirect)
    visit.statuses.append(courier.bring(redirect))


def codes_in(url: str) -> list[str]:
    """The codes in the query of a redirect."""
    return parse_qs(urlsplit(url).query).get("code", [])


class Visits:
    """The user of one launch: approves whatever is asked, and has the browser deliver it."""

    def __init__(self, world: AgentWorld, deliver: Deliver) -> None:
        self.made: list[Visit] = []
        # What the agent opened beside these: a page of somebody's, and no authorization.
        self.others: list[str] = []
        self.over = threading.Event()
        self._deliver = deliver
        self._lock = threading.Lock()
        # Sign-ins that are under way: the last one closes the connections.
        self._going = 0
        self._none_going = threading.Condition(self._lock)
        self._printed: dict[str, float] = {}
        self._opened_for: set[str] = set()
        self._opens_itself = False
        self._wire = Wire((world.place(),), timeout_s=_PAGE_S, record=lambda _: None)
        self._forms = FormsSignIn(send=self._send, may_visit=self._wire.may_reach)
        login = DEFAULT_USERS[0].login
        self._user = User(name=DEFAULT_USERS[0].name, login=login, password=Secret("password", "none"))
        named = [desk.site.authorization_endpoint for desk in (*world.named, world.thief)]
        in_the_clear = f"{world.url(CLEAR)}{world.desk.site.authorization_path}"
        starts = "|".join(re.escape(each) for each in (*named, in_the_clear))
        self._address = re.compile(f"(?:{starts}){_ADDRESS}")

    def close(self) -> None:
        """No further page is asked for. A connection that a sign-in is about to make is closed after it."""
        self.over.set()
        with self._none_going:
            idle = self._none_going.wait_for(lambda: self._going == 0, _LAST_PAGE_S)
        if idle:
            self._wire.close()

    def opened(self, url: str) -> bool:
        """The agent ran the browser; an address that the user has typed in already is not opened twice."""
        with self._lock:
            if url in self._opened_for:
                self._opened_for.discard(url)
                return True
            self._printed[url] = float("inf")
            self._opens_itself |= self._asks(url)
        courier, ended = Courier(self.over), threading.Event()
        outcome: list[bool] = []

        def go() -> None:
            try:
                outcome.append(self._go(url, "opened", courier))
            finally:
                ended.set()

        threading.Thread(target=go, daemon=True).start()
        while not ended.wait(_POLL_S):
            # An agent may wait for its browser before it looks who is at its door: then it has to be let go.
            if courier.lets_go or courier.unanswered_s() > _ANSWERS_WITHIN_S:
                return True
        return any(outcome)

    def read(self, text: str) -> None:
        """What the agent has printed so far: an address in it that nobody opens, the user opens by hand."""
        plain = text.replace("\\u0026", "&").replace("&amp;", "&").replace("\\/", "/")
        now = time.monotonic()
        with self._lock:
            for found in (each.rstrip(_BEHIND_IT) for each in self._address.findall(plain)):
                if self._asks(found):
                    self._printed.setdefault(found, now + _OPENS_ITSELF_WITHIN_S)

    def tick(self) -> list[threading.Thread]:
        """The user's patience with printed addresses ends; what comes back is on its way to them.

        Where the agent opens the browser, nobody types: what is printed may be cut off, or lack its secrets.
        Where it does not, the address that is whole is typed, and not the same without its secrets.
        """
        now = time.monotonic()
        with self._lock:
            if self._opens_itself:
                return []
            due = [url for url, at in self._printed.items() if at <= now][:_AT_ONCE]
            self._printed |= dict.fromkeys(due, float("inf"))
            due = [url for url in due if not is_masked(url, self._printed)]
            self._opened_for.update(due)
        going = [(url, "printed", Courier(self.over)) for url in due]
        threads = [threading.Thread(target=self._go, args=each, daemon=True) for each in going]
        for thread in threads:
            thread.start()
        return threads

    def _asks(self, url: str) -> bool:
        """An authorization request, and not the endpoint alone, as it stands in documents and logs."""
        names = parse_qs(parts_of(url).query, keep_blank_values=True)
        known = self._address.match(url) is not None
        return (
            known and "redirect_uri" in names and not names.keys().isdisjoint({"response_type", "client_id"})
        )

    def _go(self, url: str, how: How, courier: Courier) -> bool:
        """Follows the address to its end; False where nobody answers: no page is an error."""
        with self._lock:
            visit = Visit(number=len(self.made) + 1, url=url, how=how)
            redirect_uri = visit.value("redirect_uri")
            if redirect_uri is None and self._address.match(url) is None:
                self.others.append(url)
                return False
            self.made.append(visit)
        if self.over.is_set() or redirect_uri is None or not self._wire.may_reach(url):
            return False
        request = SignInRequest(authorization_url=url, redirect_uri=redirect_uri, user=self._user)
        try:
            with self._under_way():
                visit.redirect = self._forms.sign_in(request).sent_to
        except (RateLimited, TargetSilent):
            return False
        if visit.redirect is not None:
            visit.pages = courier.pages
            self._deliver(visit, visit.redirect, courier)
        return True

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        with self._lock:
            self._going += 1
        try:
            yield
        finally:
            with self._none_going:
                self._going -= 1
                last = self._going == 0
                self._none_going.notify_all()
            if last and self.over.is_set():
                self._wire.close()

    def _send(self, request: Request) -> Exchange:
        if self.over.is_set():
            raise TargetSilent("the run has ended")
        return self._wire.send("browser", request)
