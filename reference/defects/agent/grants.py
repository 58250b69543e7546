"""Agents that register other grants or response types, or authenticate their registration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.agent.policy import discovery, registration
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.registration import having
from gateproof.reference.defects.agent.retries import registering_again
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

_CODE, _REFRESH = "authorization_code", "refresh_token"
_BASIC = "Basic YWdlbnQ6aW5pdGlhbA=="


def with_lists_of_the_document(read: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Registers what `read` takes from the gateway's discovery document."""
    listed: dict[str, Any] = {}

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        listed.clear()
        listed.update(read(document))
        return discovery.endpoints(server, document)

    def record(settings: Settings) -> dict[str, Any]:
        return registration.registration_record(settings) | listed

    return {"endpoints": endpoints, "registration_record": record}


def grants_or_the_default(document: Mapping[str, Any]) -> dict[str, Any]:
    """Registers the default grants of RFC 8414 if the document lists none."""
    return {"grant_types": [_CODE, *([] if "grant_types_supported" in document else ["implicit"])]}


def authenticated(endpoints: Endpoints, record: dict[str, Any]) -> Outgoing:
    asked = registration.registration_request(endpoints, record)
    return replace(asked, headers={**asked.headers, "Authorization": _BASIC})


def with_the_kept_token(endpoints: Endpoints, record: dict[str, Any]) -> Outgoing:
    """Sends the stored token with the registration, like a client that adds it to every request."""
    asked, kept = registration.registration_request(endpoints, record), state_file("tokens.json")
    tokens = json.loads(kept.read_text()).values() if kept.exists() else ()
    headers = [f"Bearer {each['access_token']}" for each in tokens]
    return replace(asked, headers={**asked.headers, **({"Authorization": headers[0]} if headers else {})})


def again_with_a_header(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Repeats a refused registration with an initial access token."""
    refused = answer.status == 400 and asked.body.startswith(b"{") and "Authorization" not in asked.headers
    return replace(asked, headers={**asked.headers, "Authorization": "Bearer initial"}) if refused else None


DEFECTS = (
    defect(
        "implicit-registered (AGENT-17): The agent also registers the implicit grant.",
        registration_record=having(grant_types=[_CODE, "implicit"]),
    ),
    defect(
        "client-credentials-registered (AGENT-17): The agent also registers the grant client_credentials.",
        registration_record=having(grant_types=[_CODE, _REFRESH, "client_credentials"]),
    ),
    defect(
        "password-registered (AGENT-17): The agent also registers the password grant.",
        registration_record=having(grant_types=["password", _CODE]),
    ),
    defect(
        "code-grant-not-registered (AGENT-17): The agent registers only refresh_token, not the grant "
        "authorization_code that it uses.",
        registration_record=having(grant_types=[_REFRESH]),
    ),
    defect(
        "grants-as-a-string (AGENT-17): The agent registers grant_types as a string instead of a list.",
        registration_record=having(grant_types=f"{_CODE} {_REFRESH}"),
    ),
    defect(
        "response-types-as-a-string (AGENT-17): The agent registers response_types as a string instead of a "
        "list.",
        registration_record=having(response_types="code"),
    ),
    defect(
        "id-token-response-registered (AGENT-17): The agent also registers the response type `code "
        "id_token`.",
        registration_record=having(response_types=["code", "code id_token"]),
    ),
    defect(
        "token-response-registered (AGENT-17): The agent also registers the response type `token`.",
        registration_record=having(response_types=["code", "token"]),
    ),
    defect(
        "grants-as-the-document-lists-them (AGENT-17): The agent registers every grant that the discovery "
        "document lists.",
        **with_lists_of_the_document(
            lambda document: {"grant_types": document.get("grant_types_supported", [_CODE])}
        ),
    ),
    defect(
        "responses-as-the-document-lists-them (AGENT-17): The agent registers every response type that the "
        "discovery document lists.",
        **with_lists_of_the_document(
            lambda document: {"response_types": document.get("response_types_supported", ["code"])}
        ),
    ),
    defect(
        "grants-by-default (AGENT-17): If the discovery document lists no grants, the agent registers the "
        "default of RFC 8414.",
        **with_lists_of_the_document(grants_or_the_default),
    ),
    defect(
        "other-grants-once-refused (AGENT-17): The agent repeats a refused registration with the grant "
        "client_credentials.",
        **registering_again(lambda answer: answer.status == 400, grant_types=["client_credentials"]),
    ),
    defect(
        "authenticated-registration (AGENT-17): The agent sends its registration with a Basic header.",
        registration_request=authenticated,
    ),
    defect(
        "registration-with-the-kept-token (AGENT-17 AGENT-13 AGENT-18): The agent sends a stored access "
        "token with its registration at another gateway.",
        registration_request=with_the_kept_token,
    ),
    defect(
        "registration-with-a-header-once-refused (AGENT-17): The agent repeats a refused registration with "
        "a Bearer header.",
        followed=again_with_a_header,
    ),
)
