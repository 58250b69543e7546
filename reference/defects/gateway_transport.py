"""Gateways whose TLS is careless."""

from __future__ import annotations

import ssl

from reference.defects.defect import Defect, defect
from reference.defects.listening import listen_to_both, listening_under_another_name

# The API host listens first, the core host after it.
_CORE = 2


TRANSPORT: tuple[Defect, ...] = (
    defect(
        "tls-1.0-and-up", "Clients that speak TLS 1.0 are served.", "TLS-01", oldest_tls=ssl.TLSVersion.TLSv1
    ),
    defect(
        "tls-1.1-and-up",
        "Clients that speak TLS 1.1 are served.",
        "TLS-01",
        oldest_tls=ssl.TLSVersion.TLSv1_1,
    ),
    defect(
        "plain-http-on-the-tls-port",
        "The ports for TLS serve plain HTTP as well.",
        "TLS-01",
        listen=listen_to_both,
    ),
    defect(
        "core-certificate-of-another-host",
        "The core host's certificate is self-signed and names another host.",
        "TLS-01",
        listen=listening_under_another_name(_CORE),
    ),
)
