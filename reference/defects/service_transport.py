"""Services whose TLS is careless."""

from __future__ import annotations

import ssl

from gateproof.reference.defects.listening import (
    AnotherPort,
    listen_to_both,
    listening_as,
    under_another_name,
)
from gateproof.reference.defects.service_defect import ServiceDefect, defect
from gateproof.reference.defects.service_pointers import pointing

_DOCUMENTS = AnotherPort()

TRANSPORT: tuple[ServiceDefect, ...] = (
    defect(
        "old-tls-spoken",
        "TLS 1.0 and 1.1 are spoken.",
        "TLS-01",
        oldest_tls=ssl.TLSVersion.TLSv1,
    ),
    defect(
        "plain-http-on-the-tls-port",
        "The port for TLS serves plain HTTP as well.",
        "TLS-01",
        listen=listen_to_both,
    ),
    defect(
        "certificate-of-another-host",
        "The service's certificate is self-signed and names another host.",
        "TLS-01",
        listen=listening_as(under_another_name, which=1),
    ),
    defect(
        "plain-http-where-the-operation-is",
        "The metadata are on a port of their own, and the operation's port serves plain HTTP beside TLS.",
        "TLS-01 META-05",
        listen=_DOCUMENTS.beside(listen_to_both),
        challenges=pointing(lambda facts: _DOCUMENTS.on_it(facts.metadata_url)),
    ),
)
