"""Gateways that lose an agent after many others have registered."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import AGENT_CHECKS, AgentFacts
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts, new_agent
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal

CACHED, ROWS = 200, 256


def newest_agents_alone(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Keeps agents in a cache of limited size."""
    if asked.path.endswith("/api/register"):
        agents = gateway.store.agents
        for old in list(agents)[: max(0, len(agents) - CACHED)]:
            del agents[old]
    return answered


def newest_secrets_alone() -> dict[str, Any]:
    """Keeps the secrets of agents in a cache of limited size."""
    kept: deque[str] = deque(maxlen=CACHED)

    def remembering(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new = new_agent(facts, ids, now)
        kept.append(new.agent.id)
        return new

    def check(facts: AgentFacts) -> Refusal | None:
        known = facts.agent is not None and facts.agent.id in kept
        return None if known else code_exchange.agent_is_known(replace(facts, agent=None))

    return {"new_agent": remembering, "agent_checks": (*AGENT_CHECKS, check)}


def numbered_in_a_byte() -> dict[str, Any]:
    """Makes client IDs of a fixed prefix and a counter of one byte."""
    number = 0

    def named(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        nonlocal number
        new, number = new_agent(facts, ids, now), (number + 1) % ROWS
        return replace(new, agent=replace(new.agent, id=f"agent_of_this_process_{number:03d}"))

    return {"new_agent": named}


DEFECTS = (
    defect(
        "agents-in-a-cache (ROBUST-04): The gateway keeps only the newest two hundred agents.",
        around=altering_answers(newest_agents_alone),
    ),
    defect(
        "secrets-in-a-cache (ROBUST-04): The gateway keeps the secrets of only the newest two hundred "
        "agents.",
        **newest_secrets_alone(),
    ),
    defect(
        "client-ids-of-a-byte (ROBUST-04): The 257th agent gets the same client_id as the first.",
        **numbered_in_a_byte(),
    ),
)
