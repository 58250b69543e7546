"""Gateways that issue tokens for used or expired codes, or whose token responses are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from gateproof.reference.defects.defect import instead, without, without_members
from gateproof.reference.defects.gateway.row import defect
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


def refusing_with(check: honest.CodeCheck, error: str, status: int = 400) -> dict[str, Checks]:
    """The same check with another error or status."""

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
    """Remembers only the code that was used last."""
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


def revoked_for_the_agent(claims: Mapping[str, Any], store: Store) -> Grant | None:
    """`DELETE FROM tokens WHERE client_id = ?`: one user's grant ends those of all users."""
    found = grant_behind(claims, store)
    if found is None:
        return None
    ended = any(each.revoked for each in store.grants.values() if each.agent_id == found.agent_id)
    return replace(found, revoked=ended)


USES = (
    defect(
        "codes-never-spent (CODE-02 CODE-10 ROBUST-04): A code can be used any number of times.",
        spend_code=leave_unspent,
    ),
    defect(
        "used-codes-not-refused (CODE-02 CODE-10 ROBUST-04): The gateway marks a code as used, but does not "
        "check the mark.",
        code_checks=without(CODE_CHECKS, honest.code_is_unspent),
    ),
    defect(
        "only-the-last-code-is-spent (CODE-02 ROBUST-04): A used code works again as soon as another code is "
        "used.",
        spend_code=remember_the_last(),
    ),
    defect(
        "used-code-is-an-invalid-request (CODE-02 ROBUST-04): A used code gets invalid_request instead of "
        "invalid_grant.",
        **refusing_with(honest.code_is_unspent, "invalid_request"),
    ),
    defect(
        "used-code-is-refused-with-200 (CODE-02 CODE-14 ROBUST-04): A used code gets invalid_grant with "
        "status 200.",
        **refusing_with(honest.code_is_unspent, "invalid_grant", 200),
    ),
    defect(
        "codes-never-expire (CODE-03): The gateway does not check the age of a code.",
        code_checks=without(CODE_CHECKS, honest.code_is_in_time),
    ),
    defect("codes-for-a-month (CODE-03): A code lives for a month.", code_lifetime_s=30 * 86400),
    defect(
        "expired-code-is-an-expired-token (CODE-03 ROBUST-04): An expired code gets the error expired_token.",
        **refusing_with(honest.code_is_in_time, "expired_token"),
    ),
    defect(
        "second-use-revokes-nothing (CODE-12): A second use of a code does not revoke the tokens of the "
        "first use.",
        spend_code=revoke_nothing,
    ),
    defect(
        "second-use-ends-the-agent (REDEEM-01 ROBUST-04): A second use of a code ends the tokens of all "
        "users of the agent.",
        grant_behind=revoked_for_the_agent,
    ),
    defect(
        "revoked-grant-still-redeems (CODE-12): Access tokens of a revoked grant still redeem.",
        grant_behind=living,
    ),
)

SHAPES = (
    defect(
        "tokens-may-be-cached (CODE-11 PROXY-10): Token responses have no Cache-Control header.",
        token_headers=MappingProxyType({}),
    ),
    defect(
        "tokens-are-revalidated (CODE-11 PROXY-10): Token responses have Cache-Control: no-cache, which "
        "still allows caches to store them.",
        token_headers=MappingProxyType({"cache-control": "no-cache"}),
    ),
    defect(
        "no-token-type (CODE-11): Token responses have no token_type.",
        token_answer=lambda facts, tokens: without_members(token_answer(facts, tokens), "token_type"),
    ),
    defect(
        "token-type-of-its-own (CODE-11): Token responses have the non-standard token_type JWT.",
        token_answer=lambda facts, tokens: token_answer(facts, tokens) | {"token_type": "JWT"},
    ),
    defect(
        "refusal-without-an-error (CODE-11): The refusal of an unknown code has no error code.",
        **refusing_with(honest.code_is_known, ""),
    ),
)

DEFECTS = (*USES, *SHAPES)
