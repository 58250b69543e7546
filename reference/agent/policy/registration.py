"""The registration of the agent, once for every install."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed, Outgoing


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """The client of this install at one authorization server; the secret is not in its `repr`."""

    client_id: str
    client_secret: str = field(repr=False)


def registration_record(settings: Settings) -> dict[str, Any]:
    """The metadata; without scopes, which belong in the authorization request, where the user sees them."""
    return {
        "client_name": "Reference agent",
        "redirect_uris": [settings.callback_url],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post",
    }


def registration_request(endpoints: Endpoints, record: dict[str, Any]) -> Outgoing:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    body = json.dumps(record).encode()
    return Outgoing(method="POST", url=endpoints.registration, headers=headers, body=body)


def registered(answer: Answer) -> Client:
    """The client of a registration answer."""
    document = answer.document()
    client_id, secret = document.get("client_id"), document.get("client_secret")
    if answer.status != 201 or not (isinstance(client_id, str) and isinstance(secret, str)):
        raise Failed(f"the gateway refuses the registration: status {answer.status}")
    return Client(client_id=client_id, client_secret=secret)
