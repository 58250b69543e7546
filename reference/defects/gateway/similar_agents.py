"""Gateways that take an agent for one that has something in common with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.gateway.claims import agent_claiming
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import AgentCredentials, TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.records import ProxyClient
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import JsonObject, Refusal


def kept_by(key: str, member: str) -> Callable[[JsonObject], JsonObject]:
    """One member of `ext.agent` is looked up by another one, and kept."""
    kept: dict[str, str] = {}
    return lambda agent: {**agent, member: kept.setdefault(agent[key], agent[member])}


def in_small_letters(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    found = code_exchange.agent_credentials(facts)
    return found if isinstance(found, Refusal) else replace(found, client_id=found.client_id.lower())


def named_as(spelled: Callable[[str], str]) -> Callable[[Store, ProxyCredentials], ProxyClient | None]:
    """IDs are compared in another spelling than they came in."""
    return lambda store, credentials: store.proxy_clients.get(spelled(credentials.client_id))


DEFECTS = (
    defect(
        "agents-name-kept-by-its-domain (CLAIM-07): All agents of a domain have the name of the first one.",
        access_token_claims=agent_claiming(kept_by("domain", "name")),
    ),
    defect(
        "agents-domain-kept-by-its-name (CLAIM-07): All agents of a name have the domain of the first one.",
        access_token_claims=agent_claiming(kept_by("name", "domain")),
    ),
    defect(
        "agent-ids-in-any-case (CODE-07): The token endpoint reads capitals in a client ID as small letters.",
        agent_credentials=in_small_letters,
    ),
    defect(
        "proxy-ids-in-any-case (PROXY-03): The case of the letters in the ID of a Proxy client does not "
        "count.",
        proxy_client_named=named_as(str.lower),
    ),
    defect(
        "proxy-ids-trimmed (PROXY-03): Blanks around the ID of a Proxy client do not count.",
        proxy_client_named=named_as(str.strip),
    ),
)
