"""Services whose TLS is careless."""

from __future__ import annotations

import ssl

from reference.defects.listening import listen_to_both, listening_under_another_name
from reference.defects.service_defect import ServiceDefect, defect

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
        listen=listening_under_another_name(1),
    ),
)
