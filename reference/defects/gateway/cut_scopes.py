"""Gateways that cut a long list of scopes in the middle of a scope."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization, token_claims
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.outcomes import JsonObject

_COLUMN = 255


def _cut(scopes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(scopes)[:_COLUMN].split())


def request_kept_in_a_column(facts: AuthorizationFacts) -> AuthorizationRequest:
    request = authorization.authorization_request(facts)
    return replace(request, scopes=_cut(request.scopes))


def refreshes_kept_in_a_column(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    """Only the row of the refresh token has the short column."""
    answer = token_claims.token_answer(facts, tokens)
    if facts.request.value("grant_type") != "refresh_token":
        return answer
    return answer | {"scope": " ".join(_cut(facts.scopes))}


DEFECTS = (
    defect(
        "scopes-cut-at-255-characters (AUTHZ-18): The gateway keeps the requested scopes in a text of 255 "
        "characters, and grants what is left of the last one.",
        authorization_request=request_kept_in_a_column,
    ),
    defect(
        "scopes-cut-at-a-refresh (AUTHZ-18): A refresh grants the scopes cut at 255 characters.",
        token_answer=refreshes_kept_in_a_column,
    ),
)
