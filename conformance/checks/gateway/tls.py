"""TLS on every origin of the gateway."""

from __future__ import annotations

from gateproof.conformance.kit import tls_rules
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, require
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire import tls
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place, origin

ORIGINS = ("base", "core")


@check("TLS-01", cases=ORIGINS)
def certificate_is_valid_for_its_host(gateway: Gateway, world: World, case: str) -> None:
    """The certificate chain ends at the CA of the target file and names the requested host."""
    tls_rules.certificate_is_valid(*_origin(gateway, world.projects.home().resource, case))


@check("TLS-01", cases={f"{origin}, {name}": (origin, name) for origin in ORIGINS for name in tls.OLD})
def old_version_is_refused(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    """A client with TLS 1.1 or older gets no connection (RFC 8996)."""
    origin, name = case
    place, url = _origin(gateway, world.projects.home().resource, origin)
    tls_rules.old_version_is_refused(place, url, name, world.service_certificate)


@check("TLS-01", cases=ORIGINS)
def plain_http_on_the_same_port_gets_no_content(gateway: Gateway, world: World, case: str) -> None:
    """Plain HTTP on the TLS port gets an alert, a closed connection or a 4xx, and no content."""
    place, url = _origin(gateway, world.projects.home().resource, case)
    document = url if case == "base" else _key_set(gateway, world)
    if document is not None:
        require(gateway.fetch(document, "the same over TLS")).status(200)
    request = agent_wire.get(document) if document is not None else _proxy_token_request(gateway, world)
    tls_rules.plain_http_is_refused(place, request.url, request)


def _key_set(gateway: Gateway, world: World) -> str | None:
    """The URL of the core key set, if the core host serves it."""
    jwks_uri = world.discovery(world.projects.home().resource).get("jwks_uri")
    on_core = isinstance(jwks_uri, str) and origin(jwks_uri) == origin(gateway.core_url)
    return str(jwks_uri) if on_core else None


def _proxy_token_request(gateway: Gateway, world: World) -> Request:
    """A request that gets content at the token endpoint; its secret will be sent in plain text."""
    try:
        client = console.new_proxy_client(world, world.projects.home())
    except Unavailable as reason:
        # The other origins are tested anyway.
        raise LeftOut("the core host serves no key set, and no Proxy client can be made for this") from reason
    require(gateway.proxy_token(client)).status(200)
    endpoint = agent_wire.token_endpoint(gateway.core_url)
    return backend_wire.proxy_token(endpoint, client.id, client.secret, gateway.spelling)[0]


def _origin(gateway: Gateway, resource: Resource, name: str) -> tuple[Place, str]:
    """The connection to the origin, and a URL of it that answers."""
    url = (
        agent_wire.discovery_url(gateway.base_url, resource.id)
        if name == "base"
        else agent_wire.token_endpoint(gateway.core_url)
    )
    return tls_rules.place_of(gateway.wire, url, f"the {name} origin"), url
