"""Gateways at which what a refresh returns is bound less than what the code exchange gave."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.refresh_tokens import anybodys_refresh_token
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange, token_claims
from gateproof.reference.gateway.policy.code_exchange import AgentFacts, RefreshFacts, TokenRequestFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

_IS_RENEWED: ContextVar[bool] = ContextVar("is_renewed", default=False)


def is_refresh(facts: TokenRequestFacts) -> bool:
    return facts.value("grant_type") == "refresh_token"


def for_renewed(policy: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A policy for refresh tokens that come from a refresh; it asks `_IS_RENEWED` about the current one."""
    renewed: set[str] = set()

    def new_refresh_token(facts: TokenFacts, ids: Ids) -> str:
        token = token_claims.new_refresh_token(facts, ids)
        if is_refresh(facts.request):
            renewed.add(fingerprint(token))
        return token

    def looked_up(facts: TokenRequestFacts) -> Refusal | None:
        _IS_RENEWED.set(is_refresh(facts) and fingerprint(facts.value("refresh_token")) in renewed)
        return None

    return {
        "new_refresh_token": new_refresh_token,
        "token_request_checks": (looked_up, *code_exchange.TOKEN_REQUEST_CHECKS),
        **policy(),
    }


def of_everybody() -> dict[str, Any]:
    def good(facts: RefreshFacts) -> Refusal | None:
        return (anybodys_refresh_token if _IS_RENEWED.get() else code_exchange.refresh_token_is_good)(facts)

    checks = instead(code_exchange.REFRESH_CHECKS, code_exchange.refresh_token_is_good, good)
    return {"refresh_checks": checks}


def without_a_secret() -> dict[str, Any]:
    def right(facts: AgentFacts) -> Refusal | None:
        return None if _IS_RENEWED.get() else code_exchange.agent_secret_is_right(facts)

    checks = instead(code_exchange.AGENT_CHECKS, code_exchange.agent_secret_is_right, right)
    return {"agent_checks": checks}


def with_any_scope() -> dict[str, Any]:
    def no_more(facts: RefreshFacts) -> Refusal | None:
        return None if _IS_RENEWED.get() else code_exchange.refresh_asks_for_no_more(facts)

    checks = instead(code_exchange.REFRESH_CHECKS, code_exchange.refresh_asks_for_no_more, no_more)
    return {"refresh_checks": checks}


def sub_of_the_second(facts: TokenFacts) -> JsonObject:
    claims = token_claims.access_token_claims(facts)
    return claims | {"sub": f"{claims['sub']}_2"} if _IS_RENEWED.get() else claims


def with_a_type_of_its_own(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    answer = token_claims.token_answer(facts, tokens)
    return answer | {"token_type": "refreshed"} if is_refresh(facts.request) else answer


def stored(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Leaves out Cache-Control in answers to a refresh."""
    if b"grant_type=refresh_token" not in asked.body or answered.status != 200:
        return answered
    headers = tuple(pair for pair in answered.headers if pair[0].lower() != "cache-control")
    return Answered(status=answered.status, headers=headers, body=answered.body)


DEFECTS = (
    defect(
        "renewed-refresh-tokens-of-everybody (CODE-16): The gateway accepts a refresh token that a refresh "
        "returned from any agent.",
        **for_renewed(of_everybody),
    ),
    defect(
        "renewed-refresh-tokens-without-a-secret (CODE-16): The gateway compares no secret if the refresh "
        "token comes from a refresh.",
        **for_renewed(without_a_secret),
    ),
    defect(
        "renewed-refresh-tokens-with-any-scope (CODE-16): A second refresh can request scopes that were not "
        "granted.",
        **for_renewed(with_any_scope),
    ),
    defect(
        "another-sub-after-a-second-refresh (CODE-16): The access token of a second refresh has another sub.",
        **for_renewed(lambda: {"access_token_claims": sub_of_the_second}),
    ),
    defect(
        "type-of-its-own-after-a-refresh (CODE-11): The answer to a refresh has a token_type of its own.",
        token_answer=with_a_type_of_its_own,
    ),
    defect(
        "answer-to-a-refresh-may-be-stored (CODE-11): The answer to a refresh has no Cache-Control header.",
        around=altering_answers(stored),
    ),
)
