"""The world around a service under test, and what the service is told of it."""

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
from gateproof.conformance.kit.bad_certificates import OF_THE_AUTHORITY, faces
from gateproof.conformance.kit.ports import kept_port
from gateproof.conformance.kit.service.listeners import ServiceDoors
from gateproof.conformance.targets.model import Address, ServiceTarget, World
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.application import application, base_routes, core_routes, merchant_routes
from gateproof.fakes.gateway.gateway import Addresses, ScriptedGateway, Setup
from gateproof.fakes.gateway.journal import Journal
from gateproof.fakes.gateway.keys import kept_key, new_key
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Script
from gateproof.fakes.listener import SwitchableListener
from gateproof.fakes.serving import Listener, listen, server_tls

# Whoever takes it for a URL is tempted to tidy it up.
INDICATOR = "https://API.merchant.example:443/v1/./%7Eorders"
SCOPES = ("orders:read",)
USERS = ("alice", "bob")
# What the first Proxy tokens are said to live: long enough for a service that renews a minute ahead, and
# short enough to wait for a service that goes by the lifetime alone. It may get one before its first call.
FIRST_PROXY_TOKENS_S = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstDeath:
    """How the service got over the early end of a Proxy token, if it did: `mended`.

    It `waited` where it went by the lifetime, and was moved `by_a_refusal` where one came before it asked.
    The tokens that it had in the end are `short` where none was said to live for an hour.
    """

    mended: bool = False
    waited: bool = False
    by_a_refusal: bool = False
    short: bool = False


@dataclass(kw_only=True, slots=True)
class ServiceState:
    """Whether the service was once waited for in vain, after all was well around it.

    One that `renews_far_ahead` has asked for another Proxy token while that of before was still to live, and
    one that `discovers_again` asked for the discovery document when it was last to look for a new key.
    """

    # It kept a dead Proxy token for as long as that was to live: those to come live a short while as well.
    goes_by_lifetime: bool = False
    first_death: FirstDeath | None = None
    given_up: bool = False
    renews_far_ahead: bool = False
    # So many Proxy tokens were asked for by calls at once, after a first request had failed.
    asked_by_first_calls: int | None = None
    # Of two users who called at once, before there was a Proxy token, one was shown the other's orders.
    mixed_first_calls: bool = False
    # It was given the time of rule SERVE-02 to find a key that was added, and did not.
    finds_no_keys: bool = False
    discovers_again: bool = True
    # What its open pages answered, once they were asked for.
    open_pages: list[Exchange] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ServiceWorld:
    """Everybody whom a service meets but its agents; `thief` writes down what reached another host.

    That host is localhost: it is in reach where the service finds the world on this machine as well.
    """

    gateway: ScriptedGateway
    thief: Journal
    thief_url: str
    thief_in_reach: bool
    ca_file: Path
    secure: bool
    certificate: tuple[str, str]
    doors: ServiceDoors
    log: Callable[[], str] = str
    missing_logs: Callable[[], Sequence[str]] = tuple
    standing: ServiceState = field(default_factory=ServiceState)

    def unseen_token(self, user: str, **changes: Any) -> str:
        """A good token of the user's under a subject that the service has never seen.

        A merchant token that it keeps, by token or by subject, is none for this one.
        """
        return self.gateway.access_token(user, **{"sub": unseen_subject(), **changes})


def unseen_subject() -> str:
    """A user whom the service has never seen, for whom several tokens may be issued."""
    return f"sub_{secrets.token_hex(8)}"


def set_up(target: ServiceTarget, authority: Authority, stack: ExitStack) -> ServiceWorld:
    """Opens the world's ports; the stack closes them."""
    secure = (target.world.public_url or target.service_url).startswith("https:")
    certificate, ca_file = _certificate(target.world, authority)
    tls = server_tls(certificate.cert_file, certificate.key_file) if secure else None
    loop = stack.enter_context(Loop())
    scheme = "https" if secure else "http"
    addresses, ports = _addresses(target.world, scheme, stack)
    kept = kept_folder(target)
    algorithm = target.world.algorithm
    core_key = kept_key(kept / "core-key.pem", algorithm) if kept is not None else new_key(algorithm)
    gateway = ScriptedGateway(addresses, _setup(target.world), core_key=core_key)
    gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S
    routes = (base_routes(gateway), core_routes(gateway), merchant_routes(gateway))
    apps = (
        [application(gateway.script, gateway.journal, *routes)]
        if len(ports) == 1
        else [application(gateway.script, gateway.journal, each) for each in routes]
    )
    doors = [loop.opened(partial(_door, app, where, tls)) for app, where in zip(apps, ports, strict=True)]
    thief, anywhere = Journal(), Address(host="127.0.0.1", port=0)
    # A certificate that was given may be for the world alone. Then whoever follows is met by plain HTTP.
    own_tls = tls if secure and is_for(certificate.cert_file, "localhost") else None
    listener = loop.opened(partial(_listen, application(Script(), thief), anywhere, own_tls))
    thief_scheme = "https" if own_tls is not None else "http"
    return ServiceWorld(
        gateway=gateway,
        thief=thief,
        thief_url=f"{thief_scheme}://localhost:{listener.netloc.rpartition(':')[2]}",
        thief_in_reach=_is_loopback(urlsplit(addresses.base_url).hostname or ""),
        ca_file=ca_file,
        secure=secure,
        certificate=(str(certificate.cert_file), str(certificate.key_file)),
        doors=ServiceDoors(
            loop=loop,
            doors={
                endpoint: doors[min(place, len(doors) - 1)]
                for place, routed in enumerate(routes)
                for endpoint, _ in routed.values()
            },
            tls=tls,
            faces=partial(faces, authority, *_hosts(target.world)),
            unissued=OF_THE_AUTHORITY if target.world.files is not None else frozenset(),
        ),
    )


def kept_folder(target: ServiceTarget) -> Path | None:
    """Where the world of a service that is configured by hand keeps what the service was told to trust."""
    if target.file is None or target.world.listen is None:
        return None
    return target.file.absolute().with_name(f"{target.file.stem}-world")


def environment(world: ServiceWorld, target: ServiceTarget, authority: Authority) -> Mapping[str, str]:
    """What a launched service finds in its environment, the CA aside."""
    own = authority.issue("target")
    # What is still in a buffer when the log is searched might as well not be written.
    at_once = {} if "PYTHONUNBUFFERED" in os.environ else {"PYTHONUNBUFFERED": "1"}
    return {
        **at_once,
        **settings(world, target),
        "GATEPROOF_PROXY_CLIENT_SECRET": world.gateway.setup.proxy_client_secret,
        "GATEPROOF_TLS_CERT_FILE": str(own.cert_file),
        "GATEPROOF_TLS_KEY_FILE": str(own.key_file),
    }


def settings(world: ServiceWorld, target: ServiceTarget) -> Mapping[str, str]:
    """What anybody may know of the world."""
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


async def _door(app: ASGIApp, where: Address, tls: ssl.SSLContext | None) -> SwitchableListener:
    door = SwitchableListener(app, host=where.host, port=where.port)
    await door.open(tls)
    return door


def _addresses(world: World, scheme: str, stack: ExitStack) -> tuple[Addresses, list[Address]]:
    """One address for everybody where it was configured by hand, and three hosts elsewhere."""
    if world.listen is not None:
        public = world.public_url or f"{scheme}://{world.listen.host}:{world.listen.port}"
        addresses = Addresses(base_url=public, core_url=public, merchant_api_url=f"{public}/merchant")
        return addresses, [world.listen]
    ports = [Address(host="127.0.0.1", port=kept_port(stack)) for _ in range(3)]
    base, core, merchant = (f"{scheme}://127.0.0.1:{where.port}" for where in ports)
    paths = {"core_keys_path": f"/k-{secrets.token_hex(4)}/set", "issuer_path": f"/i-{secrets.token_hex(4)}"}
    return Addresses(base_url=base, core_url=core, merchant_api_url=f"{merchant}/api", **paths), ports


def _setup(world: World) -> Setup:
    known = world.proxy_client_secret or Secret("proxy_client_secret", secrets.token_urlsafe(30))
    return Setup(
        project_id=f"prj_{secrets.token_hex(6)}" if world.listen is None else "prj_1",
        resource_id=world.resource_id or (f"res_{secrets.token_hex(6)}" if world.listen is None else "res_1"),
        indicator=world.indicator or INDICATOR,
        scopes=SCOPES if world.scopes is None else world.scopes,
        proxy_client_id=world.proxy_client_id or f"proxy_{secrets.token_hex(6)}",
        proxy_client_secret=known.reveal(),
    )


def _certificate(world: World, authority: Authority) -> tuple[Certificate, Path]:
    if world.files is not None:
        files = world.files
        return Certificate(cert_file=files.tls_cert_file, key_file=files.tls_key_file), files.ca_file
    return authority.issue("world", *_hosts(world)), authority.ca_file


def _hosts(world: World) -> list[str]:
    host = urlsplit(world.public_url or "").hostname
    return [host] if host else []


def _is_loopback(host: str) -> bool:
    """Whoever finds the world by this name is on this machine."""
    try:
        found = {address[4][0] for address in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ip_address(str(each)).is_loopback for each in found)
