"""Dynamic client registration: once for an install at a gateway."""

from __future__ import annotations

from .discovery import Gateway
from .errors import AgentError
from .store import Client
from .web import Web

AUTH_METHOD = "client_secret_post"


async def register(web: Web, gateway: Gateway, redirect_uri: str) -> Client:
    answer = await web.request(
        "gateway's registration",
        "POST",
        gateway.registration_endpoint,
        {"Accept": "application/json"},
        json={
            "client_name": "Orders agent",
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": AUTH_METHOD,
        },
    )
    record = answer.json_object()
    client_id, secret = record.get("client_id"), record.get("client_secret")
    if answer.status not in (200, 201) or not (_text(client_id) and _text(secret)):
        raise AgentError(f"The gateway did not register this agent (status {answer.status}).")
    if record.get("token_endpoint_auth_method", AUTH_METHOD) != AUTH_METHOD:
        raise AgentError("The gateway registered this agent for another authentication than it can do.")
    return Client(client_id, secret, redirect_uri)


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)
