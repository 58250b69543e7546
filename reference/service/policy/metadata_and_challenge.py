"""The metadata and the challenge, for agents without a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateproof.reference.service.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class ChallengeFacts:
    """The metadata URL, and whether the agent sent a token that was refused."""

    metadata_url: str
    authorization_server: str
    given: bool


def metadata_path(_settings: Settings) -> str:
    """The well-known path (RFC 9728 section 3)."""
    return "/.well-known/oauth-protected-resource"


def metadata_document(settings: Settings) -> dict[str, Any]:
    """The metadata; `resource` is this service, not the Resource indicator."""
    return {
        "resource": settings.service_url,
        "authorization_servers": [settings.authorization_server],
        "bearer_methods_supported": ["header"],
    }


def challenges(facts: ChallengeFacts) -> tuple[str, ...]:
    """The challenge with the metadata URL; with `error` only after a token (RFC 6750 section 3.1)."""
    error = ', error="invalid_token"' if facts.given else ""
    return (f'Bearer resource_metadata="{facts.metadata_url}"{error}',)
