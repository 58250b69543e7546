"""Gateways in which exchanges that run at the same moment write to one and the same `ext` or `aud`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.claims import with_claims, with_ext
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import CodeCheck, CodeFacts, CodeRefused
from gateproof.reference.gateway.policy.token_claims import TokenFacts, agent_claim
from gateproof.reference.gateway.records import Agent, Code, Resource
from gateproof.reference.gateway.store import Expiring
from gateproof.reference.outcomes import JsonObject

# The duration of a query for the signing key, and how long a template is kept for the next exchange.
QUERY_S = 0.02

Wrong = Callable[[Callable[[TokenFacts], JsonObject]], Callable[[TokenFacts], JsonObject]]


def written_by_the_last(wrong: Wrong, claims: Callable[[Agent, Resource], JsonObject]) -> dict[str, Any]:
    """Of exchanges that run at the same moment, the last one to begin fills in these claims of all."""
    last: list[Agent] = []
    resources: dict[str, Resource] = {}

    async def spend(
        codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
    ) -> Code | CodeRefused:
        last[:] = [facts.agent]
        await asyncio.sleep(QUERY_S)
        return await code_exchange.spend_code(codes, key, checks, facts)

    def filled_in(facts: TokenFacts) -> JsonObject:
        resources[facts.agent.id] = facts.resource
        agent = last[0] if last else facts.agent
        return claims(agent, resources.get(agent.id, facts.resource))

    return {"spend_code": spend, "access_token_claims": wrong(filled_in)}


DEFECTS = (
    defect(
        "agent-of-the-last-exchange (CLAIM-07): If several agents exchange codes at the same moment, "
        "`ext.agent` is that of the last one in the tokens of all.",
        **written_by_the_last(with_ext, lambda agent, _: {"agent": agent_claim(agent)}),
    ),
    defect(
        "project-of-the-last-exchange (CLAIM-08): If several agents exchange codes at the same moment, "
        "`ext.project_id` is that of the last one in the tokens of all.",
        **written_by_the_last(with_ext, lambda _, resource: {"project_id": resource.project_id}),
    ),
    defect(
        "audience-of-the-last-exchange (CLAIM-02): If several agents exchange codes at the same moment, "
        "`aud` is that of the last one in the tokens of all.",
        **written_by_the_last(with_claims, lambda _, resource: {"aud": [resource.indicator]}),
    ),
)
