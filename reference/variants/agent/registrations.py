"""Other legal ways for an agent to register."""

from __future__ import annotations

from typing import Any

from gateproof.reference.agent.policy import registration
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import tokens_in
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import read_part, refresh_request
from gateproof.reference.agent.settings import Settings
from gateproof.reference.variants.variant import variant

_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_NAMED = ("grant_types", "response_types")


def _names_no_grant(settings: Settings) -> dict[str, Any]:
    record = registration.registration_record(settings)
    return {name: value for name, value in record.items() if name not in _NAMED}


def _names_null(settings: Settings) -> dict[str, Any]:
    """Sends null, as a serializer does for a list that is not set."""
    return registration.registration_record(settings) | dict.fromkeys(_NAMED)


def _names_other_grants(settings: Settings) -> dict[str, Any]:
    grants = [_DEVICE, "refresh_token", "authorization_code"]
    return registration.registration_record(settings) | {"grant_types": grants}


def _refreshed_at_the_issuer(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Refreshes at a gateway with the issuer of the ID token."""
    if "refresh_token" not in kept or read_part(kept.get("id_token", ".."), 1).get("iss") != endpoints.issuer:
        return None
    return tokens_in(ask(refresh_request(endpoints, client, kept)))


VARIANTS = (
    variant(
        "one-client-for-an-issuer: the agent stores one client for each issuer that a discovery document "
        "names",
        client_of=lambda endpoints: endpoints.issuer,
    ),
    variant(
        "one-client-for-all-gateways: the agent stores one client, and shows it to every gateway that the "
        "metadata name",
        client_of=lambda _: "the gateway",
    ),
    variant(
        "refresh-token-for-an-issuer: the agent sends the refresh token to any gateway with the issuer of "
        "its ID token",
        renewed=_refreshed_at_the_issuer,
        worth_keeping=dict,
    ),
    variant(
        "names-no-grant: the registration has no grant_types and no response_types",
        registration_record=_names_no_grant,
    ),
    variant(
        "names-null-for-grants: the registration has null as grant_types and response_types",
        registration_record=_names_null,
    ),
    variant(
        "names-other-grants: the registration also names refresh_token and an extension grant",
        registration_record=_names_other_grants,
    ),
)
