"""Gateways that ignore whitespace around client IDs, or treat scopes as a hierarchy."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.gateway.authorization_requests import scopes_matching
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange, proxy
from gateproof.reference.gateway.policy.code_exchange import AgentCredentials, TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.records import ProxyClient
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal


def proxy_client_id_trimmed(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    return proxy.proxy_client_named(store, replace(credentials, client_id=credentials.client_id.strip()))


def agent_id_trimmed(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    found = code_exchange.agent_credentials(facts)
    if isinstance(found, Refusal):
        return found
    return replace(found, client_id=found.client_id.strip())


DEFECTS = (
    defect(
        "proxy-client-id-trimmed (PROXY-03): The gateway ignores leading and trailing whitespace in the ID "
        "of a Proxy client.",
        proxy_client_named=proxy_client_id_trimmed,
    ),
    defect(
        "agent-id-trimmed (CODE-07): The gateway ignores leading and trailing whitespace in the client ID of "
        "an agent.",
        agent_credentials=agent_id_trimmed,
    ),
    defect(
        "scopes-in-a-hierarchy (AUTHZ-18): The gateway grants a scope that is a known scope followed by a "
        "full stop and more text.",
        **scopes_matching(lambda scope, known: scope == known or scope.startswith(f"{known}.")),
    ),
)
