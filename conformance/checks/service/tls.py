"""TLS between the agents and the service."""

from __future__ import annotations

from gateproof.conformance.kit import tls_rules
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.wire import mcp, tls
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place, origin
from gateproof.conformance.wire.secret import Secret


@check("TLS-01")
def certificate_is_valid_for_its_host(service: Service) -> None:
    """The certificate chain ends at the CA of the target file and names the requested host."""
    for place, url in _origins(service):
        tls_rules.certificate_is_valid(place, url)


@check("TLS-01", cases=tls.OLD)
def old_version_is_refused(service: Service, world: ServiceWorld, case: object) -> None:
    """A client with TLS 1.1 or older gets no connection (RFC 8996)."""
    name = next(name for name, version in tls.OLD.items() if version is case)
    for place, url in _origins(service):
        tls_rules.old_version_is_refused(place, url, name, world.certificate)


@check("TLS-01")
def plain_http_on_the_same_port_gets_no_content(service: Service, world: ServiceWorld) -> None:
    """Plain HTTP on the TLS port gets an alert, a closed connection or a 4xx."""
    token = world.gateway.access_token(USERS[0])
    service.keyring.add(Secret("access_token", token))
    for place, url in _origins(service):
        operation = url != service.metadata_url
        tls_rules.plain_http_is_refused(place, url, _with_content(service, token) if operation else None)


def _origins(service: Service) -> list[tuple[Place, str]]:
    """The origin of the metadata, and that of the operation if it differs: agents send tokens there."""
    urls = {origin(url): url for url in (service.request(()).url, service.metadata_url)}
    return [(tls_rules.place_of(service.wire, url, "the service"), url) for url in urls.values()]


def _with_content(service: Service, token: str) -> Request:
    """A request to the operation that is not refused because a part is missing."""
    request = service.request((("Authorization", f"Bearer {token}"),))
    begins = service.operation.kind == "mcp"
    return mcp.initialize(request.url, (("Authorization", f"Bearer {token}"),)) if begins else request
