"""Services with weak or missing TLS."""

from __future__ import annotations

import ssl

from gateproof.reference.defects.service.metadata_pointers import pointing
from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.tls_listeners import (
    AnotherPort,
    listen_to_both,
    listening_as,
    with_wrong_certificate,
)

_DOCUMENTS = AnotherPort()

DEFECTS = (
    defect(
        "old-tls-spoken (TLS-01): The service accepts TLS 1.0 and 1.1.",
        oldest_tls=ssl.TLSVersion.TLSv1,
    ),
    defect(
        "plain-http-on-the-tls-port (TLS-01): The TLS port also serves plain HTTP.",
        listen=listen_to_both,
    ),
    defect(
        "certificate-of-another-host (TLS-01): The service's certificate is self-signed and names another "
        "host.",
        listen=listening_as(with_wrong_certificate, which=1),
    ),
    defect(
        "plain-http-where-the-operation-is (TLS-01 META-05): The metadata have their own port, and the port "
        "of the operation also serves plain HTTP.",
        listen=_DOCUMENTS.beside(listen_to_both),
        challenges=pointing(lambda facts: _DOCUMENTS.on_it(facts.metadata_url)),
    ),
)
