"""Gateways that store data of a code for each agent instead of each code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.codes import Checks, Codes
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import CodeFacts, CodeRefused
from gateproof.reference.gateway.records import Code, Grant


def newest(codes: Codes, agent_id: str) -> list[Code]:
    return [code for code in codes.values() if code.agent_id == agent_id][-1:]


def all_open(codes: Codes, agent_id: str) -> list[Code]:
    return [code for code in codes.values() if code.agent_id == agent_id and not code.spent]


def as_if(chosen: Callable[[Codes, str], list[Code]], *names: str) -> SpendCode:
    """A refused code is tried again with these fields of other codes of its agent."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        own = codes.get(key)
        outcome = await honest.spend_code(codes, key, checks, facts)
        if own is None or own.spent or not isinstance(outcome, CodeRefused):
            return outcome
        for other in chosen(codes, facts.agent.id):
            borrowed = replace(own, **{name: getattr(other, name) for name in names})
            codes.change(key, borrowed)
            again = await honest.spend_code(codes, key, checks, facts)
            if isinstance(again, Code):
                return again
        return outcome

    return spend


def for_the_newest_grant(same: Callable[[Grant, Grant], bool]) -> dict[str, Any]:
    """Returns the agent's newest code instead, if it is unused and `same` is true for the two grants."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        outcome = await honest.spend_code(codes, key, checks, facts)
        last = newest(codes, facts.agent.id)
        if not isinstance(outcome, Code) or not last or last[0].spent:
            return outcome
        own, other = (held[0].store.grants.get(code.grant_id) for code in (outcome, last[0]))
        return last[0] if own is not None and other is not None and same(own, other) else outcome

    return {"around": around, "spend_code": spend}


DEFECTS = (
    defect(
        "verifier-of-the-newest-code (CODE-04): An exchange also succeeds with the verifier of the agent's "
        "newest code.",
        spend_code=as_if(newest, "challenge"),
    ),
    defect(
        "verifier-of-any-open-code (CODE-04): An exchange also succeeds with the verifier of any other "
        "unused code of the agent.",
        spend_code=as_if(all_open, "challenge"),
    ),
    defect(
        "redirect-uri-of-the-newest-code (CODE-05): An exchange also succeeds with the redirect URI of the "
        "agent's newest code.",
        spend_code=as_if(newest, "redirect_uri"),
    ),
    defect(
        "redirect-uri-of-any-open-code (CODE-05): An exchange also succeeds with the redirect URI of any "
        "other unused code of the agent.",
        spend_code=as_if(all_open, "redirect_uri"),
    ),
    defect(
        "user-of-the-newest-code (CLAIM-03 CLAIM-11 ROBUST-04): An exchange returns tokens for the user of "
        "the agent's newest unused code, not for the user of the code that was sent.",
        **for_the_newest_grant(lambda own, other: own.resource_id == other.resource_id),
    ),
    defect(
        "resource-of-the-newest-code (CLAIM-02 ROBUST-04): An exchange returns tokens for the Resource of "
        "the agent's newest unused code, not for that of the code that was sent.",
        **for_the_newest_grant(lambda own, other: own.sub == other.sub),
    ),
)
