"""The requests of an agent, as the specification defines them."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from gateproof.conformance.wire.exchange import Request

Pairs = Sequence[tuple[str, str]]

JSON_BODY = ("Content-Type", "application/json")
FORM_BODY = ("Content-Type", "application/x-www-form-urlencoded")


def fresh_verifier() -> str:
    """A code verifier of 32 random bytes."""
    return secrets.token_urlsafe(32)


def s256(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def fresh_state() -> str:
    return secrets.token_urlsafe(16)


def discovery_url(base_url: str, resource_id: str) -> str:
    return f"{base_url}/{resource_id}/.well-known/openid-configuration"


def authorization_endpoint(base_url: str, resource_id: str) -> str:
    return f"{base_url}/{resource_id}/oauth2/auth"


def token_endpoint(core_url: str) -> str:
    return f"{core_url}/oauth2/token"


def registration_endpoint(base_url: str) -> str:
    return f"{base_url}/api/register"


def registration(endpoint: str, metadata: Any) -> Request:
    """A dynamic client registration; it contains no credential."""
    return Request(
        method="POST",
        url=endpoint,
        headers=(JSON_BODY, ("Accept", "application/json")),
        body=json.dumps(metadata).encode(),
    )


def agent_metadata(
    *, name: str, redirect_uris: Iterable[str], auth_method: str = "client_secret_post"
) -> dict[str, Any]:
    """The metadata that an agent sends when it registers."""
    return {
        "client_name": name,
        "redirect_uris": list(redirect_uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": auth_method,
    }


def authorization_url(endpoint: str, parameters: Pairs) -> str:
    """The URL that an agent opens in the browser, with spaces as %20."""
    return f"{endpoint}?{urlencode(parameters, quote_via=quote, safe='')}"


def form_post(url: str, fields: Pairs, *extra_headers: tuple[str, str]) -> Request:
    """A form-encoded POST."""
    return Request(
        method="POST",
        url=url,
        headers=(FORM_BODY, ("Accept", "application/json"), *extra_headers),
        body=urlencode(fields).encode("ascii"),
    )


def get(url: str) -> Request:
    return Request(method="GET", url=url, headers=(("Accept", "application/json"),))
