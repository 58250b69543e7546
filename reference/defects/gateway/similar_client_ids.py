"""Gateways that take a client ID for another that looks like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import AgentCredentials, TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.records import ProxyClient
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal


def in_small_letters(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    found = code_exchange.agent_credentials(facts)
    return found if isinstance(found, Refusal) else replace(found, client_id=found.client_id.lower())


def named_as(spelled: Callable[[str], str]) -> Callable[[Store, ProxyCredentials], ProxyClient | None]:
    """IDs are compared in another spelling than they came in."""
    return lambda store, credentials: store.proxy_clients.get(spelled(credentials.client_id))


DEFECTS = (
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
