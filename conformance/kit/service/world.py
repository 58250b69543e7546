"""The world around a service under test, and the settings for the service."""

from __future__ import annotations

import os
import secrets
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from gateproof.conformance.kit.authority import Authority, Certificate, is_for
from gateproof.conformance.kit.bad_certificates import NEEDS_OWN_CA, bad_certificates
from gateproof.conformance.kit.service.algorithms import USUAL, Algorithms
from gateproof.conformance.kit.service.files import ServiceFiles
from gateproof.conformance.kit.service.listeners import ServiceListeners
from gateproof.conformance.kit.service.new_keys import NewKeys
from gateproof.conformance.kit.service.old_session import CallsInAnOldSession
from gateproof.conformance.targets.model import Address, Limits, ServiceTarget, World
from gateproof.conformance.targets.party_names import GATEWAY, MERCHANT, host_of
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.ports import kept_port
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.application import (
    Routes,
    application,
    base_routes,
    core_routes,
    merchant_routes,
)
from gateproof.fakes.gateway.gateway import Addresses, ScriptedGateway, Setup
from gateproof.fakes.gateway.journal import Journal
from gateproof.fakes.gateway.keys import kept_key, new_key
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import HANG_S, Script
from gateproof.fakes.listener import SwitchableListener
from gateproof.fakes.serving import Listener, listen, server_tls

# Code that normalizes the indicator like a URL changes it.
INDICATOR = "https://API.merchant.example:443/v1/./%7Eorders"
SCOPES = ("orders:read",)
USERS = ("alice", "bob")
# Lifetime of the first Proxy tokens: long enough for a service that renews one minute early, and short enough
# to wait for the end. A service may request one before its first call.
FIRST_PROXY_TOKENS_S = 90
HANGS_ON_S = 30.0


@dataclass(kw_only=True, slots=True)
class ServiceState:
    """What the checks have learned about the service so far.

    `expiry_tested`: a check waited for the end of a Proxy token. `given_up`: a wait for its recovery failed.
    `renews_far_ahead`: it requested a Proxy token long before the old one expired. `discovers_again`: it
    fetched the discovery document when it last looked for a new key; None if it has not looked yet. The
    file `discovery_is_kept` exists while the last lookup of all workers did not fetch it (`key_lookups`).
    """

    # It used a revoked Proxy token until the end of its lifetime, so later tokens get a short lifetime, too.
    renews_by_lifetime_only: bool = False
    expiry_tested: bool = False
    given_up: bool = False
    # It has answered with 5xx, or not at all, since it was last seen to work between two checks; the
    # journal's mark of that moment.
    failed: bool = False
    recovered_at: int = 0
    # Calls in an MCP session from before the end of a Proxy token, after that end.
    calls_in_an_old_session: CallsInAnOldSession | None = None
    renews_far_ahead: bool = False
    # How many Proxy tokens concurrent calls requested after a first request had failed.
    asked_by_first_calls: int | None = None
    # Two users called at once before there was a Proxy token, and one got the other's orders.
    mixed_first_calls: bool = False
    # It did not find an added key within the time of rule SERVE-02.
    finds_no_keys: bool = False
    # New keys that it found together; None also if it did not.
    new_keys: NewKeys | None = None
    new_keys_tried: bool = False
    # How many lookups found a new key, and how many checks of rule SERVE-02 have asked for one.
    lookups: int = 0
    lookups_needed: int = 0
    discovers_again: bool | None = None
    discovery_is_kept: Path | None = None
    # The responses of its public pages, once they were fetched.
    open_pages: list[Exchange] = field(default_factory=list)
    pages_for_agents: list[Exchange] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ServiceWorld:
    """All parties around a service except its agents; `attacker` records requests to another host.

    This host is localhost: the service can reach it if the rest of the world is on this machine as well.
    """

    gateway: ScriptedGateway
    attacker: Journal
    attacker_url: str
    attacker_in_reach: bool
    ca_file: Path
    secure: bool
    certificate: tuple[str, str]
    listeners: ServiceListeners
    log: Callable[[], str] = str
    missing_logs: Callable[[], Sequence[str]] = tuple
    files: ServiceFiles | None = None
    limits: Limits = field(default_factory=Limits)
    service_state: ServiceState = field(default_factory=ServiceState)
    algorithms: Algorithms | None = None

    def unseen_token(self, user: str, **changes: Any) -> str:
        """A valid token of the user with a subject that is new to the service.

        So no cached merchant token, by token or by subject, belongs to it.
        """
        return self.gateway.access_token(user, **{"sub": unseen_subject(), **changes})


def unseen_subject() -> str:
    """A subject that is new to the service."""
    return f"sub_{secrets.token_hex(8)}"


def set_up(target: ServiceTarget, authority: Authority, stack: ExitStack) -> ServiceWorld:
    """Opens the listeners of the world; the stack closes them."""
    secure = (target.world.public_url or target.service_url).startswith("https:")
    certificate, ca_file = _certificate(target.world, authority)
    tls = server_tls(certificate.cert_file, certificate.key_file) if secure else None
    loop = stack.enter_context(Loop())
    scheme = "https" if secure else "http"
    addresses, ports = _addresses(target, scheme, stack)
    kept = kept_folder(target)
    algorithm = target.world.algorithm or USUAL
    core_key = kept_key(kept / "core-key.pem", algorithm) if kept is not None else new_key(algorithm)
    gateway = ScriptedGateway(addresses, _setup(target.world), core_key=core_key)
    # Longer than the service may wait.
    gateway.script.hang_s = max(HANG_S, (target.limits.longest_call_s or 0.0) + HANGS_ON_S)
    if target.limits.proxy_token_cache_s is None:
        gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S
    groups = _sharing(gateway, len(ports))
    apps = [application(gateway.script, gateway.journal, *group) for group in groups]
    listeners = [
        loop.opened(partial(_open_listener, app, where, tls)) for app, where in zip(apps, ports, strict=True)
    ]
    attacker, anywhere = Journal(), Address(host="127.0.0.1", port=0)
    # A certificate from the target file may not name localhost. Then the other host uses plain HTTP.
    own_tls = tls if secure and is_for(certificate.cert_file, "localhost") else None
    listener = loop.opened(partial(_listen, application(Script(), attacker), anywhere, own_tls))
    attacker_scheme = "https" if own_tls is not None else "http"
    return ServiceWorld(
        gateway=gateway,
        algorithms=Algorithms(gateway, told=target.world.algorithm is not None),
        attacker=attacker,
        attacker_url=f"{attacker_scheme}://localhost:{listener.netloc.rpartition(':')[2]}",
        attacker_in_reach=bool(target.own_parties.names)
        or _is_loopback(urlsplit(addresses.base_url).hostname or ""),
        ca_file=ca_file,
        secure=secure,
        certificate=(str(certificate.cert_file), str(certificate.key_file)),
        limits=target.limits,
        listeners=ServiceListeners(
            loop=loop,
            listeners={
                endpoint: listener
                for listener, group in zip(listeners, groups, strict=True)
                for routed in group
                for endpoint, _ in routed.values()
            },
            tls=tls,
            bad_certificates=partial(bad_certificates, authority, *_hosts(target.world)),
            unavailable_certificates=NEEDS_OWN_CA if target.world.files is not None else frozenset(),
        ),
    )


def kept_folder(target: ServiceTarget) -> Path | None:
    """The folder for the keys of the world of a manually configured service, which trusts these keys."""
    if target.file is None or target.world.listen is None:
        return None
    return target.file.absolute().with_name(f"{target.file.stem}-world")


def environment(world: ServiceWorld, target: ServiceTarget, authority: Authority) -> Mapping[str, str]:
    """Environment variables of a launched service, except the CA."""
    own = authority.issue("target")
    # Without this, log lines could still be in a buffer when the log is searched.
    unbuffered = {} if "PYTHONUNBUFFERED" in os.environ else {"PYTHONUNBUFFERED": "1"}
    return {
        **unbuffered,
        **settings(world, target),
        "GATEPROOF_PROXY_CLIENT_SECRET": world.gateway.setup.proxy_client_secret,
        "GATEPROOF_TLS_CERT_FILE": str(own.cert_file),
        "GATEPROOF_TLS_KEY_FILE": str(own.key_file),
    }


def settings(world: ServiceWorld, target: ServiceTarget) -> Mapping[str, str]:
    """The settings that are not secret."""
    gateway, setup = world.gateway, world.gateway.setup
    return {
        "GATEPROOF_BASE_URL": gateway.addresses.base_url,
        "GATEPROOF_CORE_URL": gateway.addresses.core_url,
        "GATEPROOF_PROJECT_ID": setup.project_id,
        "GATEPROOF_RESOURCE_ID": setup.resource_id,
        "GATEPROOF_RESOURCE_INDICATOR": setup.indicator,
        "GATEPROOF_SCOPES": " ".join(setup.scopes),
        "GATEPROOF_RESOURCE_JWKS_URI": gateway.resource_jwks_uri,
        "GATEPROOF_AUTHORIZATION_SERVER": gateway.authorization_server,
        "GATEPROOF_PROXY_CLIENT_ID": setup.proxy_client_id,
        "GATEPROOF_MERCHANT_API_URL": gateway.addresses.merchant_api_url,
        "GATEPROOF_SERVICE_URL": target.service_url,
        "GATEPROOF_CA_FILE": str(world.ca_file),
    }


async def _listen(app: ASGIApp, where: Address, tls: ssl.SSLContext | None) -> Listener:
    return await listen(lambda _: app, host=where.host, port=where.port, tls=tls)


async def _open_listener(app: ASGIApp, where: Address, tls: ssl.SSLContext | None) -> SwitchableListener:
    listener = SwitchableListener(app, host=where.host, port=where.port)
    await listener.open(tls)
    return listener


def _sharing(gateway: ScriptedGateway, listeners: int) -> Sequence[Sequence[Routes]]:
    """The routes of each listener: one for all; one for gateway and core, one for the merchant; or three."""
    base, core, merchant = base_routes(gateway), core_routes(gateway), merchant_routes(gateway)
    match listeners:
        case 1:
            return [(base, core, merchant)]
        case 2:
            return [(base, core), (merchant,)]
        case _:
            return [(base,), (core,), (merchant,)]


def _addresses(target: ServiceTarget, scheme: str, stack: ExitStack) -> tuple[Addresses, list[Address]]:
    """One address for all parties if it is configured by hand; otherwise two with one origin, or three."""
    world = target.world
    if world.listen is not None:
        public = world.public_url or f"{scheme}://{world.listen.netloc}"
        addresses = Addresses(base_url=public, core_url=public, merchant_api_url=f"{public}/merchant")
        return addresses, [world.listen]
    number = 2 if target.own_parties.one_origin else 3
    ports = [Address(host="127.0.0.1", port=kept_port(stack)) for _ in range(number)]
    parties = [GATEWAY] * (number - 1) + [MERCHANT]
    hosts = [host_of(party, target.own_parties.names) for party in parties]
    origins = [f"{scheme}://{host}:{where.port}" for host, where in zip(hosts, ports, strict=True)]
    base, core, merchant = origins[0], origins[-2], origins[-1]
    paths = {"core_keys_path": f"/k-{secrets.token_hex(4)}/set", "issuer_path": f"/i-{secrets.token_hex(4)}"}
    return Addresses(base_url=base, core_url=core, merchant_api_url=f"{merchant}/api", **paths), ports


def _setup(world: World) -> Setup:
    client_id = world.proxy_client_id or f"proxy_{secrets.token_hex(6)}"
    known = world.proxy_client_secret or Secret("proxy_client_secret", secret_for(client_id))
    return Setup(
        project_id=f"prj_{secrets.token_hex(6)}" if world.listen is None else "prj_1",
        resource_id=world.resource_id or (f"res_{secrets.token_hex(6)}" if world.listen is None else "res_1"),
        indicator=world.indicator or INDICATOR,
        scopes=SCOPES if world.scopes is None else world.scopes,
        proxy_client_id=client_id,
        proxy_client_secret=known.reveal(),
    )


def secret_for(client_id: str) -> str:
    """A new secret with which wrongly encoded Basic credentials differ from right ones.

    In Base64 they contain "+" and "/", end with "=", and are longer than a line of MIME.
    """
    begins = secrets.token_urlsafe(45)
    begins += "x" * (-len(f"{client_id}:{begins}") % 3)
    # As the third character of a group, "~" gives a "+" and "?" gives a "/". Three of each, because whoever
    # form-encodes the secret makes each two characters longer, and the padding has to stay.
    return f"{begins}{'xx~' * 3}{'xx?' * 3}{secrets.token_urlsafe(3)}"


def _certificate(world: World, authority: Authority) -> tuple[Certificate, Path]:
    if world.files is not None:
        files = world.files
        return Certificate(cert_file=files.tls_cert_file, key_file=files.tls_key_file), files.ca_file
    return authority.issue("world", *_hosts(world)), authority.ca_file


def _hosts(world: World) -> list[str]:
    host = urlsplit(world.public_url or "").hostname
    return [host] if host else []


def _is_loopback(host: str) -> bool:
    """True if this host name resolves to this machine."""
    try:
        found = {address[4][0] for address in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ip_address(str(each)).is_loopback for each in found)
