"""Gateways that give tokens for a code that is used, old, or not whose it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from gateproof.reference.defects.defect import Defect, defect, instead, lacking, without
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeFacts, CodeRefused
from gateproof.reference.gateway.policy.redemption import grant_behind
from gateproof.reference.gateway.policy.token_claims import token_answer
from gateproof.reference.gateway.records import Code, Grant
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.outcomes import Refusal

Codes = Expiring[Code]
Checks = tuple[honest.CodeCheck, ...]


def refusing(check: honest.CodeCheck, error: str, status: int = 400) -> dict[str, Checks]:
    """The same check, refusing in another way."""

    def other(facts: CodeFacts) -> Refusal | None:
        refusal = check(facts)
        return replace(refusal, error=error, status=status) if refusal else None

    return {"code_checks": instead(CODE_CHECKS, check, other)}


async def leave_unspent(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
    code = codes.get(key)
    outcome = await honest.spend_code(codes, key, checks, facts)
    if code is not None:
        codes.change(key, code)
    return outcome


def remember_the_last() -> SpendCode:
    """Only the last code that was used is known to be used."""
    last: list[str] = []

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        if code is not None and key not in last:
            codes.change(key, replace(code, spent=False))
        outcome = await honest.spend_code(codes, key, checks, facts)
        last[:] = [key] if isinstance(outcome, Code) else last
        return outcome

    return spend


async def revoke_nothing(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
    outcome = await honest.spend_code(codes, key, checks, facts)
    return replace(outcome, revokes=None) if isinstance(outcome, CodeRefused) else outcome


def living(claims: Mapping[str, Any], store: Store) -> Grant | None:
    found = grant_behind(claims, store)
    return replace(found, revoked=False) if found else None


USES: tuple[Defect, ...] = (
    defect(
        "codes-never-spent",
        "A code works as often as it is used.",
        "CODE-02 CODE-10 ROBUST-04",
        spend_code=leave_unspent,
    ),
    defect(
        "used-codes-not-refused",
        "A code is marked as used, and nobody looks at the mark.",
        "CODE-02 CODE-10 ROBUST-04",
        code_checks=without(CODE_CHECKS, honest.code_is_unspent),
    ),
    defect(
        "only-the-last-code-is-spent",
        "A used code works again once another one was used.",
        "CODE-02 ROBUST-04",
        spend_code=remember_the_last(),
    ),
    defect(
        "used-code-is-an-invalid-request",
        "A used code gets invalid_request.",
        "CODE-02 ROBUST-04",
        **refusing(honest.code_is_unspent, "invalid_request"),
    ),
    defect(
        "used-code-is-refused-with-200",
        "A used code gets invalid_grant with status 200.",
        "CODE-02 CODE-14 ROBUST-04",
        **refusing(honest.code_is_unspent, "invalid_grant", 200),
    ),
    defect(
        "codes-never-expire",
        "The age of a code is not looked at.",
        "CODE-03",
        code_checks=without(CODE_CHECKS, honest.code_is_in_time),
    ),
    defect("codes-for-a-month", "A code lives for a month.", "CODE-03", code_lifetime_s=30 * 86400),
    defect(
        "expired-code-is-an-expired-token",
        "An expired code gets the error expired_token.",
        "CODE-03 ROBUST-04",
        **refusing(honest.code_is_in_time, "expired_token"),
    ),
    defect(
        "second-use-revokes-nothing",
        "A second use of a code leaves the tokens of the first alone.",
        "CODE-12",
        spend_code=revoke_nothing,
    ),
    defect(
        "revoked-grant-still-redeems",
        "Access tokens of a grant that was revoked still redeem.",
        "CODE-12",
        grant_behind=living,
    ),
)

SHAPES: tuple[Defect, ...] = (
    defect(
        "tokens-may-be-cached",
        "Token answers say nothing about caches.",
        "CODE-11 PROXY-10",
        token_headers=MappingProxyType({}),
    ),
    defect(
        "tokens-are-revalidated",
        "Token answers carry no-cache, which stores them all the same.",
        "CODE-11 PROXY-10",
        token_headers=MappingProxyType({"cache-control": "no-cache"}),
    ),
    defect(
        "no-token-type",
        "Token answers do not name the type.",
        "CODE-11",
        token_answer=lambda facts, tokens: lacking(token_answer(facts, tokens), "token_type"),
    ),
    defect(
        "token-type-of-its-own",
        "Token answers name a type of the gateway's own.",
        "CODE-11",
        token_answer=lambda facts, tokens: token_answer(facts, tokens) | {"token_type": "JWT"},
    ),
    defect(
        "refusal-without-an-error",
        "The refusal of an unknown code names no error.",
        "CODE-11",
        **refusing(honest.code_is_known, ""),
    ),
)

EXCHANGES: tuple[Defect, ...] = (*USES, *SHAPES)
