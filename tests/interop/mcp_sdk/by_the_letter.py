"""What an agent made with the MCP SDK adds to get through, and to keep to the specification on its way."""

from __future__ import annotations

from typing import Any

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from pydantic import Field


class PinnedIssuer(OAuthClientProvider):
    """The SDK's provider, told beforehand which core issuer the gateway has.

    The document is still refused unless it names exactly this issuer, so that a service cannot send the agent
    to a stranger. The hook is private to the SDK and may move in any release.
    """

    def __init__(self, *args: Any, issuer: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._issuer = issuer

    def _expected_issuer(self) -> str:
        return self._issuer


class ScopelessMetadata(OAuthClientMetadata):
    """Client metadata whose scope is used for authorizing and left out of the registration."""

    scope: str | None = Field(default=None, exclude=True)
