"""Gateways that take two steps where one is needed, and let others in between."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from reference.defects.defect import Defect, defect
from reference.gateway.policies import SpendCode
from reference.gateway.policy import code_exchange as honest
from reference.gateway.policy.code_exchange import CodeFacts, CodeRefused
from reference.gateway.policy.outcomes import first_refusal
from reference.gateway.records import Code
from reference.gateway.store import Expiring

Codes = Expiring[Code]
Checks = tuple[honest.CodeCheck, ...]
# What a query to a database takes; 0 lets others in just once.
QUERY_S = 0.005


def looked_at_then_marked(seconds: float) -> SpendCode:
    """The code is looked at, and marked as used after this long."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        refusal = first_refusal(checks, replace(facts, code=codes.get(key)))
        await asyncio.sleep(seconds)
        outcome = await honest.spend_code(codes, key, checks, facts)
        if refusal is None and isinstance(outcome, CodeRefused):
            return codes.get(key) or outcome
        return outcome

    return spend


RACES: tuple[Defect, ...] = (
    defect(
        "code-marked-a-moment-later",
        "Whether a code was used is looked at before it is marked, with one await in between.",
        "CODE-10",
        spend_code=looked_at_then_marked(0),
    ),
    defect(
        "code-marked-after-a-query",
        "Whether a code was used is looked at before it is marked, with a query to a database in between.",
        "CODE-10",
        spend_code=looked_at_then_marked(QUERY_S),
    ),
)
