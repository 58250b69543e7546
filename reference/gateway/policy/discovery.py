"""Discovery: one document for each Resource."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gateproof.reference.gateway.keys import ALGORITHM
from gateproof.reference.gateway.records import Resource
from gateproof.reference.outcomes import JsonObject

REDEMPTION_SCOPE = "ext_token:read"
# Stands for the operator's service in a metadata file, until the operator names it.
SERVICE = "https://your-service.example"


@dataclass(frozen=True, kw_only=True, slots=True)
class DiscoveryFacts:
    """The two hosts and the Resource."""

    base_url: str
    core_url: str
    resource: Resource

    @property
    def authorization_server(self) -> str:
        return authorization_server(self.base_url, self.resource.id)


def authorization_server(base_url: str, resource_id: str) -> str:
    """The authorization server of a Resource."""
    return f"{base_url}/{resource_id}"


def issuer(core_url: str) -> str:
    """The core is the issuer for all Resources."""
    return core_url


def resource_jwks_uri(base_url: str, resource_id: str) -> str:
    return f"{base_url}/{resource_id}/jwks"


def metadata_file(facts: DiscoveryFacts, service: str) -> str:
    """The text of the protected resource metadata file, the starting point for an operator's own."""
    document = {
        "resource": service,
        "authorization_servers": [facts.authorization_server],
        "scopes_supported": list(facts.resource.scopes),
        "bearer_methods_supported": ["header"],
    }
    return json.dumps(document, indent=2)


def discovery_document(facts: DiscoveryFacts) -> JsonObject:
    """Issuer, token endpoint and key set of the core, and the Resource's authorization endpoint."""
    return {
        "issuer": issuer(facts.core_url),
        "authorization_endpoint": f"{facts.authorization_server}/oauth2/auth",
        "token_endpoint": f"{facts.core_url}/oauth2/token",
        "jwks_uri": f"{facts.core_url}/jwks",
        "registration_endpoint": f"{facts.base_url}/api/register",
        "scopes_supported": ["openid", *facts.resource.scopes, REDEMPTION_SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "authorization_response_iss_parameter_supported": True,
    }
