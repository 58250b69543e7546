"""Gateways with insecure TLS."""

from __future__ import annotations

import ssl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.tls_listeners import (
    AnotherPort,
    listen_to_both,
    listening_as,
    with_wrong_certificate,
)
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.outcomes import JsonObject

# The API host listens first, the core host after it.
_CORE = 2
_KEYS = AnotherPort()


def keys_elsewhere(facts: DiscoveryFacts) -> JsonObject:
    return discovery_document(facts) | {"jwks_uri": _KEYS.on_it(f"{facts.core_url}/jwks")}


DEFECTS = (
    defect("tls-1.0-and-up (TLS-01): The gateway accepts TLS 1.0.", oldest_tls=ssl.TLSVersion.TLSv1),
    defect(
        "tls-1.1-and-up (TLS-01): The gateway accepts TLS 1.1.",
        oldest_tls=ssl.TLSVersion.TLSv1_1,
    ),
    defect(
        "plain-http-on-the-tls-port (TLS-01): The TLS ports also accept plain HTTP.",
        listen=listen_to_both,
    ),
    defect(
        "plain-http-on-the-core-port (TLS-01): The TLS port of the core host also accepts plain HTTP.",
        listen=listening_as(listen_to_both, which=_CORE),
    ),
    defect(
        "plain-http-for-proxy-tokens (TLS-01): The TLS port of the core host also accepts plain HTTP, but "
        "the key set is on another port.",
        listen=listening_as(_KEYS.beside(listen_to_both), which=_CORE),
        discovery_document=keys_elsewhere,
    ),
    defect(
        "core-certificate-of-another-host (TLS-01): The core host has a self-signed certificate for another "
        "host name.",
        listen=listening_as(with_wrong_certificate, which=_CORE),
    ),
)
