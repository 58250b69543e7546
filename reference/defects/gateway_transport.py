"""Gateways whose TLS is careless."""

from __future__ import annotations

import ssl

from gateproof.reference.defects.defect import Defect, defect
from gateproof.reference.defects.listening import (
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
        "plain-http-on-the-core-port",
        "The core host's port for TLS serves plain HTTP as well.",
        "TLS-01",
        listen=listening_as(listen_to_both, which=_CORE),
    ),
    defect(
        "plain-http-for-proxy-tokens",
        "The key set is on a port of its own, and the core host's port serves plain HTTP beside TLS.",
        "TLS-01",
        listen=listening_as(_KEYS.beside(listen_to_both), which=_CORE),
        discovery_document=keys_elsewhere,
    ),
    defect(
        "core-certificate-of-another-host",
        "The core host's certificate is self-signed and names another host.",
        "TLS-01",
        listen=listening_as(under_another_name, which=_CORE),
    ),
)
