"""Agents that take from documents what the specification prescribes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateproof.reference.agent.policy import authorization, discovery, exchange, operation, registration
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.exchange import with_basic
from gateproof.reference.defects.agent.row import defect

_BASIC = "client_secret_basic"


def method_of_the_list() -> dict[str, Any]:
    """Uses the first method that the gateway lists, or the default of RFC 8414 if it lists none."""
    first: list[str] = []

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        first[:] = document.get("token_endpoint_auth_methods_supported", [_BASIC])[:1]
        return discovery.endpoints(server, document)

    def record(settings: Settings) -> dict[str, Any]:
        return registration.registration_record(settings) | {"token_endpoint_auth_method": first[0]}

    def request(facts: ExchangeFacts) -> Outgoing:
        return with_basic(facts) if first == [_BASIC] else exchange.token_request(facts)

    return {"endpoints": endpoints, "registration_record": record, "token_request": request}


def no_method_where_it_is_listed() -> dict[str, Any]:
    """Registers as a public client if the gateway lists the method `none`."""
    listed: list[str] = []

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        listed[:] = document.get("token_endpoint_auth_methods_supported", [])
        return discovery.endpoints(server, document)

    def record(settings: Settings) -> dict[str, Any]:
        usual = registration.registration_record(settings)
        return usual | ({"token_endpoint_auth_method": "none"} if "none" in listed else {})

    return {"endpoints": endpoints, "registration_record": record}


def first_proof_of_the_list() -> dict[str, Any]:
    """Uses the PKCE method `plain` if the gateway lists it first."""
    listed: list[str] = []

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        listed[:] = document.get("code_challenge_methods_supported", [])[:1]
        return discovery.endpoints(server, document)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        plain = {"code_challenge": attempt.verifier, "code_challenge_method": "plain"}
        return whole | (plain if listed == ["plain"] else {})

    return {"endpoints": endpoints, "authorization_parameters": parameters}


def proof_where_it_is_listed() -> dict[str, Any]:
    """Sends a challenge only to gateways that list S256."""
    listed: list[str] = []

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        listed[:] = document.get("code_challenge_methods_supported", [])
        return discovery.endpoints(server, document)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        left = {name: value for name, value in whole.items() if not name.startswith("code_challenge")}
        return whole if "S256" in listed else left

    return {"endpoints": endpoints, "authorization_parameters": parameters}


def scopes_of_the_metadata() -> dict[str, Any]:
    """Requests exactly the scopes that the service's metadata list, if there are any."""
    listed: list[str] = []

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        listed[:] = metadata.get("scopes_supported", [])
        return discovery.is_about(metadata, service_url)

    return {"is_about": is_about, "authorization_parameters": asking_for(listed)}


def asking_for(listed: Sequence[str]) -> Callable[[Settings, Client, Attempt], dict[str, str]]:
    """Makes the authorization request with these scopes, or with the usual ones if the list is empty."""

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        return whole | ({"scope": " ".join(listed)} if listed else {})

    return parameters


def scopes_of_the_challenge(status: int) -> dict[str, Any]:
    """Requests exactly the scopes that a challenge with this status names."""
    listed: list[str] = []

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, given)
        said = " ".join(answer.headers_named("www-authenticate"))
        wanted = re.search(r'\bscope="([^"]*)"', said) if answer.status == status else None
        listed[:] = wanted[1].split() if wanted else []
        return replace(answer, status=401) if wanted else answer

    return {"operate": operate, "authorization_parameters": asking_for(listed)}


def method_listed_for_the_exchange() -> dict[str, Any]:
    """Registers its usual method, but exchanges with the first one that the gateway lists."""
    whole = method_of_the_list()
    del whole["registration_record"]
    return whole


DEFECTS = (
    defect(
        "scopes-as-the-metadata-list-them (AGENT-03): The agent requests exactly the scopes in the "
        "service's metadata, even if openid is not among them.",
        **scopes_of_the_metadata(),
    ),
    defect(
        "scopes-of-the-challenge (AGENT-03): The agent requests exactly the scopes that the 401 challenge "
        "names, if there are any.",
        **scopes_of_the_challenge(401),
    ),
    defect(
        "scopes-of-a-refusal (AGENT-03): When the service answers 403 and names scopes, the agent "
        "authorizes again with only these scopes.",
        **scopes_of_the_challenge(403),
    ),
    defect(
        "exchange-by-the-listed-method (AGENT-06): The agent exchanges with client_secret_basic if the "
        "gateway lists it first or lists no method.",
        **method_listed_for_the_exchange(),
    ),
    defect(
        "method-first-in-the-list (AGENT-02 AGENT-06): The agent registers and uses the first method that "
        "the gateway lists, or client_secret_basic if it lists none.",
        **method_of_the_list(),
    ),
    defect(
        "no-method-where-it-is-listed (AGENT-02): The agent registers the method `none` if the gateway "
        "lists it.",
        **no_method_where_it_is_listed(),
    ),
    defect(
        "proof-first-in-the-list (AGENT-03): The agent uses the PKCE method `plain` if the gateway lists it "
        "first.",
        **first_proof_of_the_list(),
    ),
    # Requests without a challenge also fail AGENT-04, whatever the order of the checks.
    defect(
        "proof-where-it-is-listed (AGENT-03 AGENT-04 AGENT-06): The agent sends a PKCE challenge only if "
        "the gateway lists S256.",
        **proof_where_it_is_listed(),
    ),
)
