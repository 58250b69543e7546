"""Gateways that accept an agent as a Proxy client."""

from __future__ import annotations

from gateproof.reference.defects.defect import without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import proxy
from gateproof.reference.gateway.policy.code_exchange import AGENT_CHECKS, AgentFacts
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    auth_method_is_supported,
    grants_are_supported,
)
from gateproof.reference.gateway.records import ProxyClient
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal

BASIC = "client_secret_basic"


def basic_agents_too(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
    """Agents and Proxy clients share one table; an agent registered for Basic is taken as a backend."""
    agent, project_id = store.agents.get(credentials.client_id), next(iter(store.projects), None)
    if agent is None or agent.auth_method != BASIC or project_id is None:
        return proxy.proxy_client_named(store, credentials)
    return ProxyClient(id=agent.id, secret=agent.secret, project_id=project_id)


def no_code_for_basic_agents(facts: AgentFacts) -> Refusal | None:
    if facts.agent is None or facts.agent.auth_method != BASIC:
        return None
    return Refusal(status=401, error="invalid_client", description="agents use client_secret_post")


DEFECTS = (
    defect(
        "basic-agents-get-proxy-tokens (REG-08): An agent that registers client_secret_basic gets Proxy "
        "tokens, and no tokens for codes.",
        registration_checks=without(REGISTRATION_CHECKS, auth_method_is_supported, grants_are_supported),
        agent_checks=(*AGENT_CHECKS, no_code_for_basic_agents),
        proxy_client_named=basic_agents_too,
    ),
)
