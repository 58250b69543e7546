"""The addresses that the user's browser opened in one launch, and the redirects that it delivered."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from gateproof.conformance.kit.agent.addresses import is_masked, is_whole
from gateproof.conformance.kit.agent.browser import Courier, is_this_machine
from gateproof.conformance.kit.agent.world import PLAIN_HTTP, AgentWorld
from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import DEFAULT_USERS
from gateproof.conformance.wire.client import RateLimited, TargetSilent, Wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.route import parts_of
from gateproof.conformance.wire.secret import Secret

# The agent may print the address first and open it itself a moment later. If the printed address is
# incomplete, it is probably a redacted copy, and the agent is given longer.
_AGENT_OPENS_WITHIN_S, _AGENT_OPENS_REDACTED_WITHIN_S = 1.5, 6.0
_PAGE_S = 10.0
_POLL_S = 0.01
# Most printed addresses that are opened at the same time.
_AT_ONCE = 10
_ANSWERS_WITHIN_S = 1.0
# An agent that makes more authorizations in one run is stopped before.
_MOST_VISITS = 20
# At the end of a run, a page of our own fakes arrives within this time.
_LAST_PAGE_S = 1.0
# Characters of a URL (RFC 3986) without the single quote, which usually ends it; and punctuation after a URL.
_ADDRESS, _PUNCTUATION = r"[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]*", ".,:;!?*)]}"
Deliver = Callable[["Visit", str, Courier], None]
How = Literal["opened", "printed"]


@dataclass(kw_only=True, slots=True)
class Visit:
    """One opened address. `brought` are redirects delivered to the agent, `pages` the agent's answers."""

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
        """The codes in the delivered redirects."""
        return [code for url in self.brought for code in codes_in(url)]

    def undeliverable_host(self) -> str | None:
        """The host of a redirect that was not on this machine, so that it could not be delivered."""
        hosts = (urlsplit(url).hostname for url in self.brought)
        return next((host for host in hosts if host and not is_this_machine(host)), None)

    def value(self, name: str) -> str | None:
        """The value of a parameter that occurs exactly once."""
        found = self.query.get(name, [])
        return found[0] if len(found) == 1 else None


def deliver_unchanged(visit: Visit, redirect: str, courier: Courier) -> None:
    """Delivers the redirect unchanged."""
    bring(visit, redirect, courier)


def bring(visit: Visit, redirect: str, courier: Courier) -> None:
    """Delivers one redirect and records it."""
    visit.brought.append(redirect)
    visit.statuses.append(courier.bring(redirect))


def codes_in(url: str) -> list[str]:
    """The codes in the query of a redirect."""
    return parse_qs(urlsplit(url).query).get("code", [])


class Visits:
    """The user of one launch: approves every request and delivers the redirects."""

    def __init__(self, world: AgentWorld, deliver: Deliver) -> None:
        self.made: list[Visit] = []
        # Other addresses that the agent opened: no authorization requests.
        self.others: list[str] = []
        # The environment of each call of the browser command.
        self.environments: list[str] = []
        self.over = threading.Event()
        self._deliver = deliver
        self._lock = threading.Lock()
        # How many sign-ins are running: the last one closes the connections.
        self._active = 0
        self._none_active = threading.Condition(self._lock)
        self._printed: dict[str, float] = {}
        self._opened_for: set[str] = set()
        self._agent_opens_browser = False
        self._tracing = world.tracing
        self._wire = Wire((world.place(),), timeout_s=_PAGE_S, record=lambda _: None)
        self._forms = FormsSignIn(send=self._send, may_visit=self._wire.may_reach)
        login = DEFAULT_USERS[0].login
        self._user = User(name=DEFAULT_USERS[0].name, login=login, password=Secret("password", "none"))
        named = [desk.site.authorization_endpoint for desk in (*world.named, world.attacker)]
        in_the_clear = f"{world.url(PLAIN_HTTP)}{world.gateway_endpoints.site.authorization_path}"
        starts = "|".join(re.escape(each) for each in (*named, in_the_clear))
        self._address = re.compile(f"(?:{starts}){_ADDRESS}")

    def close(self) -> None:
        """Stops further requests; if a sign-in still runs, it closes the connections when it ends."""
        self.over.set()
        with self._none_active:
            idle = self._none_active.wait_for(lambda: self._active == 0, _LAST_PAGE_S)
        if idle:
            self._wire.close()

    def opened(self, url: str, environment: str = "") -> bool:
        """The agent ran the browser command. An address already opened from the output is skipped."""
        with self._lock:
            self.environments.append(environment)
            if url in self._opened_for:
                self._opened_for.discard(url)
                return True
            self._printed[url] = float("inf")
            self._agent_opens_browser |= self._is_authorization_request(url)
        courier, ended = self._courier(), threading.Event()
        outcome: list[bool] = []

        def open_it() -> None:
            try:
                outcome.append(self._open(url, "opened", courier))
            finally:
                ended.set()

        threading.Thread(target=open_it, daemon=True).start()
        while not ended.wait(_POLL_S):
            # An agent may wait for the browser command before it answers the callback: then the command
            # returns.
            if courier.returns_early or courier.unanswered_s() > _ANSWERS_WITHIN_S:
                return True
        return any(outcome)

    def read(self, text: str) -> None:
        """Finds authorization URLs in the output; the user opens them later unless the agent does."""
        plain = text.replace("\\u0026", "&").replace("&amp;", "&").replace("\\/", "/")
        now = time.monotonic()
        with self._lock:
            for found in (each.rstrip(_PUNCTUATION) for each in self._address.findall(plain)):
                if self._is_authorization_request(found):
                    within_s = _AGENT_OPENS_WITHIN_S if is_whole(found) else _AGENT_OPENS_REDACTED_WITHIN_S
                    self._printed.setdefault(found, now + within_s)

    def tick(self) -> list[threading.Thread]:
        """Opens the printed addresses that are due.

        If the agent opens the browser itself, nothing is opened here: printed addresses may be truncated or
        masked. Otherwise the complete address is opened, and not its redacted copies.
        """
        now = time.monotonic()
        with self._lock:
            if self._agent_opens_browser:
                return []
            due = [url for url, at in self._printed.items() if at <= now][:_AT_ONCE]
            self._printed |= dict.fromkeys(due, float("inf"))
            due = [url for url in due if not is_masked(url, self._printed)]
            self._opened_for.update(due)
        going = [(url, "printed", self._courier()) for url in due]
        threads = [threading.Thread(target=self._open, args=each, daemon=True) for each in going]
        for thread in threads:
            thread.start()
        return threads

    def _courier(self) -> Courier:
        return Courier(self.over, self._tracing, self._is_authorization_request)

    def _go_on(self, courier: Courier) -> None:
        """Opens the authorization requests to which the agent's page has redirected, each of them once."""
        while courier.stopped_at and not self.over.is_set():
            url = courier.stopped_at.pop(0)
            with self._lock:
                is_new = self._printed.get(url) != float("inf") and len(self.made) < _MOST_VISITS
                self._printed[url] = float("inf")
            if is_new:
                self._open(url, "opened", courier)

    def _is_authorization_request(self, url: str) -> bool:
        """True for an authorization request; the bare endpoint also occurs in documents and logs."""
        names = parse_qs(parts_of(url).query, keep_blank_values=True)
        known = self._address.match(url) is not None
        return (
            known and "redirect_uri" in names and not names.keys().isdisjoint({"response_type", "client_id"})
        )

    def _open(self, url: str, how: How, courier: Courier) -> bool:
        """Opens the address and signs in; False if no request was made or no answer came."""
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
            with self._counted():
                visit.redirect = self._forms.sign_in(request).sent_to
        except (RateLimited, TargetSilent):
            return False
        if visit.redirect is not None:
            visit.pages = courier.pages
            self._deliver(visit, visit.redirect, courier)
            self._go_on(courier)
        return True

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._active += 1
        try:
            yield
        finally:
            with self._none_active:
                self._active -= 1
                last = self._active == 0
                self._none_active.notify_all()
            if last and self.over.is_set():
                self._wire.close()

    def _send(self, request: Request) -> Exchange:
        if self.over.is_set():
            raise TargetSilent("the run has ended")
        return self._wire.send("browser", request)
