"""Gateways that compare identifiers and scopes as lenient databases and libraries do."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.gateway.authorization_requests import scopes_are
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange, proxy
from gateproof.reference.gateway.policy.code_exchange import AgentCredentials, TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.records import ProxyClient
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal


def named_with_blanks(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    return proxy.proxy_client_named(store, replace(credentials, client_id=credentials.client_id.strip()))


def agent_with_blanks(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    found = code_exchange.agent_credentials(facts)
    if isinstance(found, Refusal):
        return found
    return replace(found, client_id=found.client_id.strip())


DEFECTS = (
    defect(
        "proxy-client-id-trimmed (PROXY-03): White space around the ID of a Proxy client is cut off.",
        proxy_client_named=named_with_blanks,
    ),
    defect(
        "agent-id-trimmed (CODE-07): White space around the client ID of an agent is cut off.",
        agent_credentials=agent_with_blanks,
    ),
    defect(
        "scopes-in-a-hierarchy (AUTHZ-18): A scope that goes on with a full stop behind a known one is "
        "granted as a part of it.",
        **scopes_are(lambda scope, known: scope == known or scope.startswith(f"{known}.")),
    ),
)
