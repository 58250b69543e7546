"""Gateways whose TLS is careless."""

from __future__ import annotations

import ssl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.tls_listeners import (
    AnotherPort,
    listen_to_both,
    listening_as,
    under_another_name,
)
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.outcomes import JsonObject

# The API host listens first, the core host after it.
_CORE = 2
_KEYS = AnotherPort()


def keys_elsewhere(facts: DiscoveryFacts) -> JsonObject:
    return discovery_document(facts) | {"jwks_uri": _KEYS.on_it(f"{facts.core_url}/jwks")}


DEFECTS = (
    defect(
        "tls-1.0-and-up (TLS-01): Clients that speak TLS 1.0 are served.", oldest_tls=ssl.TLSVersion.TLSv1
    ),
    defect(
        "tls-1.1-and-up (TLS-01): Clients that speak TLS 1.1 are served.",
        oldest_tls=ssl.TLSVersion.TLSv1_1,
    ),
    defect(
        "plain-http-on-the-tls-port (TLS-01): The ports for TLS serve plain HTTP as well.",
        listen=listen_to_both,
    ),
    defect(
        "plain-http-on-the-core-port (TLS-01): The core host's port for TLS serves plain HTTP as well.",
        listen=listening_as(listen_to_both, which=_CORE),
    ),
    defect(
        "plain-http-for-proxy-tokens (TLS-01): The key set is on a port of its own, and the core host's "
        "port serves plain HTTP beside TLS.",
        listen=listening_as(_KEYS.beside(listen_to_both), which=_CORE),
        discovery_document=keys_elsewhere,
    ),
    defect(
        "core-certificate-of-another-host (TLS-01): The core host's certificate is self-signed and names "
        "another host.",
        listen=listening_as(under_another_name, which=_CORE),
    ),
)
