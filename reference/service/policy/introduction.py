"""How the service introduces itself to agents that have no token for it yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateproof.reference.service.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class ChallengeFacts:
    """Where the metadata are, and whether the agent sent something that was not good enough."""

    metadata_url: str
    authorization_server: str
    given: bool


def metadata_path(_settings: Settings) -> str:
    """Where agents look first (RFC 9728 section 3)."""
    return "/.well-known/oauth-protected-resource"


def metadata_document(settings: Settings) -> dict[str, Any]:
    """`resource` is this service; the Resource indicator of the merchant's API is another matter."""
    return {
        "resource": settings.service_url,
        "authorization_servers": [settings.authorization_server],
        "bearer_methods_supported": ["header"],
    }


def challenges(facts: ChallengeFacts) -> tuple[str, ...]:
    """Where to get a token that is accepted; `error` only for whoever sent one (RFC 6750 section 3.1)."""
    error = ', error="invalid_token"' if facts.given else ""
    return (f'Bearer resource_metadata="{facts.metadata_url}"{error}',)
