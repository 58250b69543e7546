"""The gateway under test, as an agent, a browser and an operator's backend reach it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self
from urllib.parse import parse_qsl

from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.suite.parties import Attempt, Authorization, ProxyClient, Resource, User
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.route import line_to_add, parts_of
from gateproof.conformance.wire.secret import Secret

CALLBACK = "https://agent.example/callback"


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """Where the browser ended after an authorization request.

    How often the user acted and whether the user really declined is None where the sign-in cannot see it.
    `status` is that of the page the browser ended on; None where it ended on none, or where nobody saw it.
    `acted_on` are the addresses, without queries, of the pages on which the user acted, where that was seen.
    `answers` is False where the address is nobody's who asked: what is called a code there, on an error page
    for example, is none. `unticked` are the boxes that were left so in the form that was sent last, and
    `sent_last` is what that form said, unless it asked for a password.
    """

    sent_to: str | None
    page: str
    status: int | None = None
    acts: int | None = None
    declined: bool | None = None
    acted_on: tuple[str, ...] = ()
    answers: bool = True
    unticked: tuple[str, ...] = ()
    sent_last: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    # How many forms asked for a password, where that was seen.
    passwords: int | None = None
    # The page on which the browser ended, where that was seen, and whether it has a form.
    ended_at: str = ""
    asks: bool = False

    def parameter(self, name: str) -> str | None:
        """A query parameter of the answer; None when it is missing or doubled."""
        values = [value for key, value in self.query() if key == name]
        return values[0] if self.answers and len(values) == 1 else None

    def codes(self) -> list[str]:
        """Every code in the address the browser was sent to."""
        if not self.answers:
            return []
        return [value for name, value in self.sent() if name == "code" and value]

    def sent(self) -> list[tuple[str, str]]:
        """What stands in the query and in the fragment of the address the browser was sent to.

        Sent to an odd address, a code may stand behind any question mark: each one begins a parameter.
        """
        parts = parts_of(self.sent_to or "")
        raw = f"{parts.query}&{parts.fragment}".replace("?", "&")
        return parse_qsl(raw, keep_blank_values=True)

    def ended(self) -> bool:
        """True when the browser came to an end that can be judged: away, or on a page that is no crash."""
        if self.sent_to is not None or self.acts is None:
            return True
        return self.status is not None and not self.crashed()

    def crashed(self) -> bool:
        """True when the browser ended on a page of the server's own trouble."""
        return self.sent_to is None and self.status is not None and self.status >= 500

    def query(self) -> list[tuple[str, str]]:
        if self.sent_to is None:
            return []
        return parse_qsl(parts_of(self.sent_to).query, keep_blank_values=True)

    def outcome(self) -> str:
        """Where the browser ended, in a few words and without the values of parameters."""
        if self.sent_to is None:
            return f"the browser stayed on a page: {self.page}"
        parts = parts_of(self.sent_to)
        names = ", ".join(name for name, _ in self.query()) or "no parameter"
        open_boxes = f", boxes left unticked: {', '.join(self.unticked)}" if self._says_no() else ""
        return f"the browser was sent to {parts.scheme}://{parts.netloc}{parts.path} with {names}{open_boxes}"

    def _says_no(self) -> bool:
        """True where boxes were left unticked, and perhaps therefore no code came."""
        return bool(self.unticked) and not self.codes()


class BeyondReach(Unavailable):
    """The browser was sent on to where this run may not follow, and with nothing that belongs to the agent.

    On the way to a code that is a sign-in somewhere else, of which nothing more can be seen. For a request
    that is to give none, it is an end like any other.
    """

    def __init__(self, url: str, visit: Visit) -> None:
        super().__init__(
            "address",
            f"the sign-in goes on at {parts_of(url).hostname}, which is not the target's nor the fakes'; "
            + line_to_add(url),
        )
        self.visit = visit


class SignIn(Protocol):
    """Opens an authorization URL as this user, who approves or declines."""

    def __call__(self, url: str, redirect_uri: str, user: User, *, approve: bool) -> Visit: ...


class Browsing(Protocol):
    """One browser that keeps its cookies from visit to visit."""

    def visit(self, url: str, redirect_uri: str, user: User, *, approve: bool) -> Visit:
        """Opens an address, and the user does what is asked for."""

    def look(self, url: str, user: User) -> Visit:
        """Opens an address; redirects are followed, and the user does nothing at all."""

    def copy_cookies(
        self, other: Self, hosts: frozenset[str], /, *, names: Collection[str] | None = None
    ) -> None:
        """Puts the cookies of these hosts from another browser into this one; those with these names only."""

    def hand_over(self, act: int, url: str, user: User, *, to: Self | None = None) -> Visit | None:
        """Opens an address; the user's act of this number is sent by another browser instead of this one.

        That is a new one, in which the user goes on, but signs in nowhere anew; or, with `to`, one that has
        been here before, and the user does nothing there but this one act. None when there are fewer acts.
        """

    def hold_back(self, act: int, url: str, user: User, meanwhile: Callable[[], None]) -> Visit | None:
        """Opens an address; before the user's act of this number, which is the last, something else happens.

        None when there are fewer acts.
        """


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """The gateway's endpoints, one method each; nothing here judges."""

    base_url: str
    core_url: str
    wire: Wire
    keyring: Keyring
    sign_in: SignIn
    new_browser: Callable[[], Browsing] | None = None
    spelling: backend_wire.Spelling = field(default_factory=backend_wire.Spelling)
    # What a request of an agent or a backend becomes before it is sent; those of browsers stay as they are.
    form: Callable[[Request], Request] = field(default=lambda request: request)

    def in_form(self, form: Callable[[Request], Request]) -> Gateway:
        """The same gateway, to which agents and backends send their requests in another form."""
        return replace(self, form=form)

    def browser(self) -> Browsing:
        """A new browser that keeps its cookies."""
        if self.new_browser is None:
            raise Unavailable("sign-in:browser", "needs a sign-in in the harness's own browser")
        return self.new_browser()

    def in_one_browser(self) -> Gateway:
        """The same gateway, visited from now on in one browser that stays signed in, where that can be."""
        return self if self.new_browser is None else replace(self, sign_in=self.new_browser().visit)

    def hosts(self) -> frozenset[str]:
        """The hosts of the gateway, to which its cookies belong."""
        return frozenset(parts_of(url).hostname or "" for url in (self.base_url, self.core_url))

    def reachable(self, url: str) -> str:
        """The URL, if this run may request it: a host of the target or of the fakes."""
        if not self.wire.may_reach(url):
            raise Unavailable(
                "address", f"{url} is on a host that the target file does not name; {line_to_add(url)}"
            )
        return url

    def fetch(self, url: str, step: str) -> Exchange:
        return self._send(step, agent_wire.get(url))

    def discovery(self, resource: Resource) -> Exchange:
        return self.fetch(agent_wire.discovery_url(self.base_url, resource.id), "discovery")

    def register(self, metadata: Any, *, endpoint: str | None = None) -> Exchange:
        """Registers an agent with this metadata; the secret that comes back is noted as one."""
        endpoint = endpoint or agent_wire.registration_endpoint(self.base_url)
        exchange = self._send("registration", agent_wire.registration(endpoint, metadata))
        self._note(exchange, "client_secret", "registration_access_token")
        self._name(exchange, "client_id")
        return exchange

    def visit(
        self,
        attempt: Attempt,
        *,
        approve: bool = True,
        endpoint: str | None = None,
        pairs: agent_wire.Pairs | None = None,
        wherever: bool = False,
    ) -> Visit:
        """Opens the Resource's authorization endpoint in a browser and lets the user act.

        `pairs` stand in for the attempt's parameters where a mapping cannot say what is to be sent. With
        `wherever`, an end beyond this run's reach is an end: an error page on another host, for example.
        """
        url = self.authorization_url(attempt, pairs=pairs, endpoint=endpoint)
        redirect_uri = attempt.parameters.get("redirect_uri", CALLBACK)
        try:
            return self.record_secrets(self.sign_in(url, redirect_uri, attempt.user, approve=approve))
        except BeyondReach as end:
            if not wherever:
                raise
            return end.visit

    def authorization_url(
        self, attempt: Attempt, *, pairs: agent_wire.Pairs | None = None, endpoint: str | None = None
    ) -> str:
        """The address that the agent opens in the user's browser."""
        endpoint = endpoint or agent_wire.authorization_endpoint(self.base_url, attempt.resource.id)
        return agent_wire.authorization_url(endpoint, pairs or list(attempt.parameters.items()))

    def record_secrets(self, visit: Visit) -> Visit:
        """The visit, with what the browser was sent away with noted as secrets."""
        for name, value in visit.sent():
            if name in {"access_token", "id_token", "refresh_token"} and value:
                self.keyring.secret(name, value)
        for code in visit.codes():
            self.keyring.secret("code", code)
        return visit

    def exchange(self, authorization: Authorization, **overrides: str | None) -> Exchange:
        """Exchanges a code for tokens; an override replaces a field, and None leaves it out."""
        fields = self.exchange_fields(authorization) | overrides
        return self.token_request([(name, value) for name, value in fields.items() if value is not None])

    @staticmethod
    def exchange_fields(authorization: Authorization) -> dict[str, str | None]:
        """Every field of a good exchange, in the order of the specification."""
        return {
            "grant_type": "authorization_code",
            "code": authorization.code.reveal(),
            "redirect_uri": authorization.redirect_uri,
            "client_id": authorization.agent.client_id,
            "client_secret": authorization.agent.client_secret.reveal(),
            "code_verifier": authorization.verifier.reveal(),
        }

    def token_request(
        self, fields: agent_wire.Pairs, *headers: tuple[str, str], endpoint: str | None = None
    ) -> Exchange:
        """A form-encoded POST to the token endpoint; the tokens that come back are noted as secrets."""
        endpoint = endpoint or agent_wire.token_endpoint(self.core_url)
        exchange = self._send("code exchange", agent_wire.form_post(endpoint, fields, *headers))
        self._note(exchange, "access_token", "id_token", "refresh_token")
        return exchange

    def basic(self, client: ProxyClient) -> tuple[str, str]:
        """The client's credentials as a header that this gateway reads."""
        return self.spelling.basic(client.id, client.secret.reveal())

    def proxy_token(self, client: ProxyClient) -> Exchange:
        """A Proxy token request; credentials that can be written in two ways are, until one is understood."""
        endpoint = agent_wire.token_endpoint(self.core_url)
        usual, *other = backend_wire.proxy_token(endpoint, client.id, client.secret, self.spelling)
        exchange = self._send("Proxy token request", usual)
        if other and exchange.status in {400, 401}:
            second = self._send("Proxy token request", other[0])
            if second.status == 200:
                exchange, self.spelling.encoded = second, not self.spelling.encoded
        token = exchange.member("access_token")
        if isinstance(token, str) and token:
            self.keyring.secret("proxy_token", token)
        return exchange

    def redeem(self, bearer: Secret | None, proxy_token: Secret | None, resource: Any) -> Exchange:
        """Redeems for the merchant token; a credential that is None is left out of the request."""
        request = backend_wire.redemption(
            self.base_url, bearer=bearer, proxy_token=proxy_token, resource=resource
        )
        exchange = self._send("redemption", request)
        token = exchange.member("access_token")
        if isinstance(token, str) and token:
            self.keyring.secret("merchant_access_token", token)
        return exchange

    def _send(self, step: str, request: Request) -> Exchange:
        return self.wire.send(step, self.form(request))

    def _note(self, exchange: Exchange, *members: str) -> None:
        for name in members:
            value = exchange.member(name)
            if isinstance(value, str) and value:
                self.keyring.secret(name, value)

    def _name(self, exchange: Exchange, member: str) -> None:
        value = exchange.member(member)
        if isinstance(value, str):
            self.keyring.public(value)
