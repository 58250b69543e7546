"""The discovery documents and the merchant's own key set."""

from __future__ import annotations

from typing import Any

from gateproof.fakes.merchant.assertions import KEY_TYPES
from gateproof.fakes.merchant.shape import Shape, path_of
from gateproof.fakes.merchant.token_endpoint import GRANTS

WELL_KNOWN = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")


def discovery(shape: Shape) -> dict[str, Any]:
    """The same document for OpenID Connect and for RFC 8414."""
    places = shape.endpoints
    return shape.ordered(
        {
            "issuer": places.issuer,
            "authorization_endpoint": places.authorization_endpoint,
            "token_endpoint": places.token_endpoint,
            "userinfo_endpoint": places.userinfo_endpoint,
            "jwks_uri": places.jwks_uri,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "form_post"],
            "grant_types_supported": list(GRANTS),
            "scopes_supported": ["openid", "profile", "email", "offline_access", "orders:read"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
            "token_endpoint_auth_signing_alg_values_supported": list(KEY_TYPES),
            "code_challenge_methods_supported": ["S256", "plain"],
            "claims_supported": ["sub", "preferred_username", "email", "email_verified", "name"],
            "authorization_response_iss_parameter_supported": shape.sends_iss,
            "request_parameter_supported": False,
            "request_uri_parameter_supported": False,
            "x_test_double": True,
            "x_shelf": {"nested": ["unknown", 1, None]},
        }
    )


def discovery_paths(issuer: str) -> list[str]:
    """The paths of the documents; if the issuer has a path, they are after it and before it."""
    path = path_of(issuer)
    return sorted({spot for known in WELL_KNOWN for spot in (f"{path}{known}", f"{known}{path}")})
