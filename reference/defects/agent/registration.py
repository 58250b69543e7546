"""Agents that register other values than the specification requires."""

from __future__ import annotations

from typing import Any

from gateproof.reference.agent.policy import registration
from gateproof.reference.agent.settings import Settings
from gateproof.reference.defects.agent.row import defect


def with_http(settings: Settings) -> dict[str, Any]:
    record = registration.registration_record(settings)
    return {**record, "redirect_uris": [*record["redirect_uris"], "http://localhost:3000/callback"]}


def with_scheme_of_its_own(settings: Settings) -> dict[str, Any]:
    record = registration.registration_record(settings)
    return {**record, "redirect_uris": [*record["redirect_uris"], "orders-agent://callback"]}


def without_method(settings: Settings) -> dict[str, Any]:
    record = registration.registration_record(settings)
    del record["token_endpoint_auth_method"]
    return record


def having(**members: Any) -> Any:
    return lambda settings: {**registration.registration_record(settings), **members}


def with_scopes_elsewhere(settings: Settings) -> dict[str, Any]:
    return {**registration.registration_record(settings), "default_scopes": list(settings.scopes)}


def with_permissions(settings: Settings) -> dict[str, Any]:
    wanted = {"permissions": dict.fromkeys(settings.scopes, True)}
    return {**registration.registration_record(settings), **wanted}


def named_by_its_scopes(settings: Settings) -> dict[str, Any]:
    name = f"Reference agent ({', '.join(settings.scopes)})"
    return {**registration.registration_record(settings), "client_name": name}


def with_scopes(settings: Settings) -> dict[str, Any]:
    scope = " ".join(("openid", *settings.scopes))
    return {**registration.registration_record(settings), "scope": scope}


DEFECTS = (
    defect(
        "http-redirect-uri (AGENT-02 AGENT-01): The agent also registers an http redirect URI.",
        registration_record=with_http,
    ),
    defect(
        "own-scheme-redirect-uri (AGENT-02 AGENT-01): The agent also registers a redirect URI with a scheme "
        "of its own.",
        registration_record=with_scheme_of_its_own,
    ),
    defect(
        "basic-registered (AGENT-02): The agent registers client_secret_basic.",
        registration_record=having(token_endpoint_auth_method="client_secret_basic"),  # noqa: S106 - a method
    ),
    defect(
        "public-client-registered (AGENT-02): The agent registers the method `none`.",
        registration_record=having(token_endpoint_auth_method="none"),  # noqa: S106 - a method
    ),
    defect(
        "method-left-out (AGENT-02): The agent registers without token_endpoint_auth_method.",
        registration_record=without_method,
    ),
    defect(
        "scopes-registered (AGENT-02): The agent registers the Resource's scopes.",
        registration_record=with_scopes,
    ),
    defect(
        "scopes-registered-under-another-name (AGENT-02): The agent registers the Resource's scopes in the "
        "member `default_scopes`.",
        registration_record=with_scopes_elsewhere,
    ),
    defect(
        "scopes-registered-as-permissions (AGENT-02): The agent registers the Resource's scopes as names in "
        "the member `permissions`.",
        registration_record=with_permissions,
    ),
    defect(
        "scopes-registered-in-the-name (AGENT-02): The agent registers a client_name that contains the "
        "Resource's scopes.",
        registration_record=named_by_its_scopes,
    ),
)
