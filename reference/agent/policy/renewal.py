"""A variant that renews tokens with a stored refresh token."""

from __future__ import annotations

import base64
import json
from typing import Any

from gateproof.reference.agent.policy import exchange
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.wire import Outgoing, form


def refreshed(ask: Ask, endpoints: Endpoints, client: Client, tokens: Tokens) -> dict[str, Any] | None:
    """Refreshes at the gateway that issued the token (RFC 6749); None if that is not possible.

    The ID token names the client, which belongs to one gateway; any document can name an issuer.
    """
    said = read_part(tokens.get("id_token", ".."), 1)
    ours = said.get("iss") == endpoints.issuer and client.client_id in said.get("aud", ())
    if "refresh_token" not in tokens or not ours:
        return None
    return exchange.tokens_in(ask(refresh_request(endpoints, client, tokens)))


def refresh_request(endpoints: Endpoints, client: Client, tokens: Tokens) -> Outgoing:
    fields = {
        "grant_type": "refresh_token",
        "refresh_token": tokens["refresh_token"],
        "client_id": client.client_id,
        "client_secret": client.client_secret,
    }
    return form(endpoints.token, fields)


def read_part(id_token: str, part: int) -> dict[str, Any]:
    """The header or claims of a token; empty if they cannot be read."""
    encoded = id_token.split(".")[part]
    try:
        said = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
