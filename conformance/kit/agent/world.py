"""The world around an agent: a service, a gateway with two hosts, and an attacker's host.

Every install of an agent gets its own world, with addresses and paths that no other world has.
"""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.conformance.targets import party_names
from gateproof.conformance.targets.party_names import host_of
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.route import Place, origin
from gateproof.conformance.wire.tracing import Tracing
from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints, fields
from gateproof.fakes.gateway.application import Routes, application
from gateproof.fakes.gateway.deviations import deviate
from gateproof.fakes.gateway.journal import Call, Journal
from gateproof.fakes.gateway.keys import SigningKey, new_key
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Endpoint, Script
from gateproof.fakes.gateway.site import Site, odd_site
from gateproof.fakes.orders_service import OrdersService
from gateproof.fakes.serving import Listener, listen, server_tls

INDICATOR = "https://api.merchant.example/v1/orders"
# Two scopes, so that a wrong separator between them is visible.
SCOPES = ("orders:read", "orders:list")
# The names of the parties; the agent must not send secrets to the attacker or over plain HTTP.
SERVICE, METADATA, GATEWAY, CORE = "service", "metadata host", "gateway", "core"
ATTACKER, PLAIN_HTTP, SECOND, SECOND_CORE = "attacker", "plain HTTP", "second gateway", "second core"
# The parties that have another name than the gateway with `--names`.
_NAMED = {
    SERVICE: party_names.SERVICE,
    METADATA: party_names.SERVICE,
    ATTACKER: party_names.ATTACKER["agent"],
}
BROWSER_MARK = "x-gateproof-browser"
GOOD = "good"
# Certificate defects, in the words of a report.
EXPIRED, OTHER_HOST, UNKNOWN_CA = "expired", "for another host", "by an unknown authority"
# As many as the worlds of one run have.
_MOST_CERTIFICATES = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificates:
    """Certificate and key files by name: GOOD, or the defect of the certificate."""

    ca_file: Path
    files: Mapping[str, tuple[Path, Path]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceivedRequest:
    """One request, and the party that received it."""

    party: str
    url: str
    call: Call

    @property
    def by_browser(self) -> bool:
        return self.call.header(BROWSER_MARK) is not None

    def exchange(self) -> Exchange:
        """The request with the status of its answer."""
        call = self.call
        return Exchange(
            step=f"{self.party}: {call.endpoint.value}",
            request=Request(method=call.method, url=self.url, headers=call.headers, body=call.body),
            answer=Answer(status=call.status) if call.status else None,
            failure=None if call.status else "no answer",
            at_s=call.at_s,
        )


@dataclass(kw_only=True, slots=True)
class _PortApp:
    """A listening port; the application behind it is set later."""

    port: int = 0
    came: int = 0
    app: ASGIApp | None = None
    # The applications by path, if several parties share this port.
    by_path: dict[str, ASGIApp] = field(default_factory=dict)

    def count(self) -> None:
        self.came += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.by_path.get(scope["path"], self.app) if scope["type"] == "http" else self.app
        if app is not None:
            await app(scope, receive, send)


@dataclass(frozen=True, kw_only=True, slots=True)
class Party:
    """A server of this world."""

    url: str
    journal: Journal
    entry: _PortApp

    @property
    def came(self) -> int:
        """How many connections were made, including those without a request."""
        return self.entry.came


class AgentWorld:
    """All parties around one install of an agent.

    `metadata_apart` puts the resource metadata on a separate host; `wrong` maps parties to certificate
    defects. With `one_origin`, a gateway's API and core share an origin. `deviations` are ways in which the
    gateways leave the specification. With `names`, all parties have host names below it.
    """

    def __init__(
        self,
        loop: Loop,
        certificates: Certificates,
        *,
        metadata_apart: bool = False,
        wrong: Mapping[str, str] | None = None,
        one_origin: bool = False,
        names: str = "",
        deviations: Sequence[str] = (),
        tracing: Tracing | None = None,
    ) -> None:
        self._loop = loop
        self.tracing = tracing
        self.names = names
        self.deviations = deviations
        # Parties at the origin of another one.
        self.at_origin_of = {CORE: GATEWAY, SECOND_CORE: SECOND} if one_origin else {}
        self._certificates = certificates
        self._wrong = wrong or {}
        self._listeners: dict[str, Listener] = {}
        self.parties: dict[str, Party] = {}
        self._port_apps: dict[str, _PortApp] = {}
        for name in (SERVICE, METADATA, GATEWAY, CORE, ATTACKER, PLAIN_HTTP):
            self._open(name)
        self.mark = secrets.token_hex(8)
        site = odd_site(self.url(GATEWAY), self.url(CORE))
        self.gateway_endpoints = self._agent_endpoints(site, GATEWAY)
        self.service = OrdersService(
            self.url(SERVICE),
            servers=[site.authorization_server],
            scopes=SCOPES,
            accepts=lambda token: any(desk.accepts(token) for desk in self.named),
        )
        self.attacker = self._agent_endpoints(odd_site(self.url(ATTACKER), self.url(ATTACKER)), ATTACKER)
        # The gateways that the service names; the attacker is not one of them.
        self.named: list[AgentEndpoints] = [self.gateway_endpoints]
        self.attacker.accepts_any_client = True
        if metadata_apart:
            self.service.metadata_path = f"/about/{secrets.token_hex(4)}/who-authorizes"
            self.service.pointer = f"{self.url(METADATA)}{self.service.metadata_path}"
        self._serve_all(metadata_apart=metadata_apart)

    def url(self, party: str) -> str:
        """The party's URL; the attacker has its own host name, so that any client can distinguish it."""
        usual = "localhost" if party == ATTACKER else "127.0.0.1"
        host = host_of(_NAMED.get(party, party_names.GATEWAY), self.names) if self.names else usual
        return f"{'http' if party == PLAIN_HTTP else 'https'}://{host}:{self._port_app(party).port}"

    def _port_app(self, party: str) -> _PortApp:
        return self._port_apps[self.at_origin_of.get(party, party)]

    def add_second_gateway(self) -> AgentEndpoints:
        """Adds a second honest gateway; the service accepts its tokens as well."""
        for name in (SECOND, SECOND_CORE):
            self._open(name)
        site = odd_site(self.url(SECOND), self.url(SECOND_CORE))
        desk = self._agent_endpoints(site, SECOND)
        self._serve(SECOND, desk.script, desk.base_journal, desk.base_routes())
        self._serve(SECOND_CORE, desk.script, desk.core_journal, desk.core_routes())
        self.named.append(desk)
        return desk

    def set_certificate(self, party: str, kind: str) -> None:
        """Gives this party another certificate, and closes its open connections."""

        async def shut() -> None:
            self._listeners[party].close()

        party = self.at_origin_of.get(party, party)
        self._loop.run(shut())
        self._listen(party, kind)

    def heard(self, since: int = 0) -> list[ReceivedRequest]:
        """All requests to all parties, in the order in which they came."""
        found = [
            ReceivedRequest(party=name, url=f"{party.url}{call.target}", call=call)
            for name, party in self.parties.items()
            for call in party.journal.since()
            if call.ordinal > since
        ]
        return sorted(found, key=lambda each: each.call.ordinal)

    def count(self) -> int:
        """The number of all requests to all parties so far."""
        return sum(party.journal.mark() for party in self.parties.values())

    def secrets(self) -> dict[str, list[str]]:
        """All secrets that a gateway issued or received so far, by kind."""
        found: dict[str, list[str]] = {}
        for desk in (*self.named, self.attacker):
            for kind, values in desk.secrets().items():
                found.setdefault(kind, []).extend(values)
        # A scripted failure and the plain HTTP listener do not record the verifier, so it is read here.
        forms = (fields(each.call) for each in self.heard() if each.call.endpoint is Endpoint.TOKEN)
        shown = {form["code_verifier"] for form in forms if form.get("code_verifier")}
        found["code_verifier"] = sorted(shown.union(found.get("code_verifier", ())))
        return found

    def place(self) -> Place:
        """How the harness's browser reaches all parties."""
        return Place(
            origins=frozenset(origin(party.url) for party in self.parties.values()),
            ca_file=str(self._certificates.ca_file),
            headers={BROWSER_MARK: self.mark},
            own_suffix=self.names,
        )

    def close(self) -> None:
        async def shut() -> None:
            for listener in self._listeners.values():
                listener.close()

        self._loop.run(shut())

    def _serve_all(self, *, metadata_apart: bool) -> None:
        desk, service, attacker = self.gateway_endpoints, self.service, self.attacker
        everything = application(
            service.script, service.journal, service.routes(), otherwise=service.elsewhere
        )
        self._attach(SERVICE, service.journal, everything)
        if metadata_apart:
            self._serve(METADATA, service.script, Journal(), service.metadata_routes())
        self._serve(GATEWAY, desk.script, desk.base_journal, desk.base_routes())
        self._serve(CORE, desk.script, desk.core_journal, desk.core_routes())
        own = OrdersService(
            attacker.site.base_url,
            servers=[attacker.site.authorization_server],
            scopes=SCOPES,
            accepts=attacker.accepts,
        )
        routes = (attacker.base_routes(), attacker.core_routes(), own.routes())
        self._serve(ATTACKER, attacker.script, attacker.base_journal, *routes)
        # Requests over plain HTTP get normal answers: the check looks at what was sent.
        in_the_clear = (desk.base_routes(), desk.core_routes(), service.metadata_routes())
        self._serve(PLAIN_HTTP, desk.script, Journal(), *in_the_clear)

    def _serve(self, name: str, script: Script, journal: Journal, *routes: Routes) -> None:
        app = application(script, journal, *routes)
        self._attach(name, journal, app)
        if name in self.at_origin_of:
            self._port_app(name).by_path = dict.fromkeys((path for each in routes for _, path in each), app)

    def _attach(self, name: str, journal: Journal, app: ASGIApp) -> None:
        entry = self._port_app(name)
        self.parties[name] = Party(url=self.url(name), journal=journal, entry=entry)
        if name not in self.at_origin_of:
            entry.app = app

    def _open(self, name: str) -> None:
        """Opens a port chosen by the system: a port found free earlier might be taken meanwhile."""
        if name in self.at_origin_of:
            return
        self._port_apps[name] = _PortApp()
        self._listen(name, self._wrong.get(name, GOOD))

    def _listen(self, name: str, kind: str) -> None:
        """Listens; a party that listened before keeps its port."""
        entry = self._port_apps[name]
        tls = None if name == PLAIN_HTTP else self._tls(kind)
        listener = self._loop.run(
            listen(lambda _: entry, host="127.0.0.1", port=entry.port, tls=tls, connected=entry.count)
        )
        entry.port = int(listener.netloc.rpartition(":")[2])
        self._listeners[name] = listener

    def _agent_endpoints(self, site: Site, party: str) -> AgentEndpoints:
        keys = {"key": new_key("ES256"), "identity_key": _identity_key(party)}
        desk = AgentEndpoints(site, indicator=INDICATOR, scopes=SCOPES, **keys)
        deviate(desk, self.deviations)
        return desk

    def _tls(self, kind: str) -> ssl.SSLContext:
        return _tls_of(*self._certificates.files[kind])


@lru_cache(maxsize=_MOST_CERTIFICATES)
def _tls_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """One context for all parties with a certificate: to load the files takes most of the time of a world."""
    return server_tls(certificate, key)


@cache
def _identity_key(_party: str) -> SigningKey:
    """One key per party for all worlds: generating RSA keys is slow."""
    return new_key("RS256")
