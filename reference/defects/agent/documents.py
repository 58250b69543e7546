"""Agents that let documents decide what the specification has decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.reference.agent.policy import authorization, discovery, exchange, registration
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Outgoing
from gateproof.reference.defects.agent.exchange import with_basic
from gateproof.reference.defects.agent.row import defect

_BASIC = "client_secret_basic"


def method_of_the_list() -> dict[str, Any]:
    """The first method that the gateway lists, or what RFC 8414 has where it lists none."""
    first: list[str] = []

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        first[:] = document.get("token_endpoint_auth_methods_supported", [_BASIC])[:1]
        return discovery.endpoints(server, document)

    def record(settings: Settings) -> dict[str, Any]:
        return registration.registration_record(settings) | {"token_endpoint_auth_method": first[0]}

    def request(facts: ExchangeFacts) -> Outgoing:
        return with_basic(facts) if first == [_BASIC] else exchange.token_request(facts)

    return {"endpoints": endpoints, "registration_record": record, "token_request": request}


def proof_where_it_is_listed() -> dict[str, Any]:
    """A challenge goes to gateways that list S256, and to no others."""
    listed: list[str] = []

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        listed[:] = document.get("code_challenge_methods_supported", [])
        return discovery.endpoints(server, document)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        left = {name: value for name, value in whole.items() if not name.startswith("code_challenge")}
        return whole if "S256" in listed else left

    return {"endpoints": endpoints, "authorization_parameters": parameters}


DEFECTS = (
    defect(
        "method-first-in-the-list (AGENT-02 AGENT-06): It registers the first method that the gateway "
        "lists, and goes by it.",
        **method_of_the_list(),
    ),
    # What it does not ask with, AGENT-04 misses in whatever order the checks come.
    defect(
        "proof-where-it-is-listed (AGENT-03 AGENT-04 AGENT-06): It sends a challenge where the gateway "
        "lists S256, and none elsewhere.",
        **proof_where_it_is_listed(),
    ),
)
