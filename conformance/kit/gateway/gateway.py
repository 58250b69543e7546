"""The gateway under test, as an agent, a browser and an operator's backend reach it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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

    `acts` is how often the user acted, and `declined` is whether the user really declined; None if the
    sign-in cannot see it. `status` is that of the page on which the browser ended; None if there is no such
    page or the sign-in cannot see it. `acted_on` are the addresses, without queries, of the pages on which
    the user acted, if known. `answers` is False if the address does not belong to the sender of the request:
    a `code` parameter there, on an error page for example, is no authorization code. `unticked` are the
    checkboxes that were left unticked in the last form, and `sent_last` are the fields of that form, unless
    it asked for a password.
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
    # How many forms asked for a password, if known.
    passwords: int | None = None
    # The page on which the browser ended, if known, and whether it has a form.
    ended_at: str = ""
    asks: bool = False

    def parameter(self, name: str) -> str | None:
        """A query parameter of the response; None if it is missing or occurs more than once."""
        values = [value for key, value in self.query() if key == name]
        return values[0] if self.answers and len(values) == 1 else None

    def codes(self) -> list[str]:
        """Every code in the address the browser was sent to."""
        if not self.answers:
            return []
        return [value for name, value in self.sent() if name == "code" and value]

    def sent(self) -> list[tuple[str, str]]:
        """The parameters in the query and in the fragment of the address the browser was sent to.

        In a malformed address, a code may follow any question mark, so each one starts a parameter.
        """
        parts = parts_of(self.sent_to or "")
        raw = f"{parts.query}&{parts.fragment}".replace("?", "&")
        return parse_qsl(raw, keep_blank_values=True)

    def ended(self) -> bool:
        """True if the end can be judged: a redirect away from the gateway, or a page without server error."""
        if self.sent_to is not None or self.acts is None:
            return True
        return self.status is not None and not self.crashed()

    def crashed(self) -> bool:
        """True if the browser ended on a page with a status of 500 or more."""
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
        """True if checkboxes were left unticked and no code came, perhaps because of them."""
        return bool(self.unticked) and not self.codes()


class BeyondReach(Unavailable):
    """The browser was sent to a host that this run may not contact, with nothing that belongs to the agent.

    In a valid authorization, this is a sign-in on another host, which the harness cannot follow. For a
    request that must give no code, it is an end like any other.
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
    """One browser that keeps its cookies between visits."""

    @property
    def is_real(self) -> bool:
        """True for a browser that runs scripts; another one then takes over its whole window."""

    def visit(self, url: str, redirect_uri: str, user: User, *, approve: bool) -> Visit:
        """Opens an address, and the user does what the pages ask for."""

    def look(self, url: str, user: User) -> Visit:
        """Opens an address and follows redirects; the user does nothing."""

    def copy_cookies(
        self, other: Self, hosts: frozenset[str], /, *, names: Collection[str] | None = None
    ) -> None:
        """Copies the cookies of these hosts from another browser into this one; only `names` if given."""

    def forge_cookies(self, other: Self, hosts: frozenset[str], changes: Mapping[str, str], /) -> None:
        """Copies the cookies of these hosts from another browser, with these texts replaced.

        Left out if there is no such text in any of them.
        """

    def act_in_other_browser(self, act: int, url: str, user: User, *, to: Self | None = None) -> Visit | None:
        """Opens an address; another browser sends the user's act of this number.

        By default this is a new browser, in which the user continues without another sign-in. With `to`, it
        is an existing browser, in which the user does only this act. None if there are fewer acts.
        """

    def call_before_act(self, act: int, url: str, user: User, meanwhile: Callable[[], None]) -> Visit | None:
        """Opens an address; calls `meanwhile` before the user's act of this number, which is the last one.

        None if there are fewer acts.
        """

    def submit_changed(
        self,
        act: int,
        url: str,
        user: User,
        changes: Mapping[str, str],
        *,
        in_address: bool = False,
        goes_on: bool = False,
    ) -> Visit | None:
        """Opens an address; replaces these texts in the form of the user's act of this number.

        That act is the last one, unless the user `goes_on`. The texts are replaced in hidden fields, or with
        `in_address` in the address to which the form is sent.
        None if there are fewer acts. Left out if there is no such text, or if it cannot be changed.
        """


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """The gateway's endpoints, one method each; no method decides a verdict."""

    base_url: str
    core_url: str
    wire: Wire
    keyring: Keyring
    sign_in: SignIn
    new_browser: Callable[[], Browsing] | None = None
    spelling: backend_wire.Spelling = field(default_factory=backend_wire.Spelling)
    # Changes requests of agents and backends before they are sent; those of browsers stay unchanged.
    form: Callable[[Request], Request] = field(default=lambda request: request)

    def in_form(self, form: Callable[[Request], Request]) -> Gateway:
        """The same gateway; agents and backends send it requests that this function has changed."""
        return replace(self, form=form)

    def browser(self) -> Browsing:
        """A new browser that keeps its cookies."""
        if self.new_browser is None:
            raise Unavailable("sign-in:browser", "needs a sign-in in the harness's own browser")
        return self.new_browser()

    def in_one_browser(self) -> Gateway:
        """The same gateway; all visits use one browser that stays signed in, if the sign-in supports it."""
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
        """Registers an agent with this metadata; records the returned secrets for redaction."""
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

        `pairs` replace the attempt's parameters if a mapping cannot express them. With `wherever`, an end on
        a host that this run may not contact is accepted: an error page, for example.
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
        """Records the secrets in the address to which the browser was sent; returns the visit."""
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
        """Every field of a valid exchange, in the order of the specification."""
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
        """A form-encoded POST to the token endpoint; records the returned tokens as secrets."""
        endpoint = endpoint or agent_wire.token_endpoint(self.core_url)
        exchange = self._send("code exchange", agent_wire.form_post(endpoint, fields, *headers))
        self._note(exchange, "access_token", "id_token", "refresh_token")
        return exchange

    def basic(self, client: ProxyClient) -> tuple[str, str]:
        """The client's credentials as a Basic header in the encoding that this gateway accepts."""
        return self.spelling.basic(client.id, client.secret.reveal())

    def proxy_token(self, client: ProxyClient) -> Exchange:
        """A Proxy token request; after 400 or 401, tries the other encoding of the credentials, if any."""
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
