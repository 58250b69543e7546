"""Transport: what protects the agents' tokens on their way to the service."""

from __future__ import annotations

from conformance import secure
from conformance.check import check
from conformance.run.service_world import ServiceWorld
from conformance.service import Service
from conformance.wire import tls
from conformance.wire.place import Place


@check("TLS-01")
def certificate_is_valid_for_its_host(service: Service) -> None:
    """The chain ends at the CA of the target file, and the certificate names the host that was asked for."""
    secure.certificate_is_valid(*_origin(service))


@check("TLS-01", cases=tls.OLD)
def old_version_is_refused(service: Service, world: ServiceWorld, case: object) -> None:
    """A client that speaks nothing newer than TLS 1.1 gets no connection: RFC 8996 retired those versions."""
    name = next(name for name, version in tls.OLD.items() if version is case)
    secure.old_version_is_refused(*_origin(service), name, world.certificate)


@check("TLS-01")
def plain_http_on_the_same_port_gets_no_content(service: Service) -> None:
    """A request in the clear is turned away: by an alert, a closed connection or a 4xx."""
    secure.plain_http_is_refused(*_origin(service))


def _origin(service: Service) -> tuple[Place, str]:
    return secure.place_of(service.wire, service.metadata_url, "the service"), service.metadata_url
