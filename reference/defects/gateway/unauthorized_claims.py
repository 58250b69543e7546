"""Gateways that add an audience or scopes from a request to a token without authorization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.defect import without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import REFRESH_CHECKS, refresh_asks_for_no_more
from gateproof.reference.gateway.policy.token_claims import (
    TokenFacts,
    Tokens,
    access_token_claims,
    token_answer,
)
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.outcomes import JsonObject


def audience_by_form(name: str) -> Callable[[TokenFacts], JsonObject]:
    """Adds this field of the token request to the audience."""

    def claims(facts: TokenFacts) -> JsonObject:
        asked = [value for key, value in facts.request.form if key == name]
        return access_token_claims(facts) | {"aud": [facts.resource.indicator, *asked]}

    return claims


def audience_by_query(name: str) -> dict[str, Any]:
    """Adds this parameter of the authorization request to the audience."""
    asked: dict[str, list[str]] = {}

    def request(facts: AuthorizationFacts) -> AuthorizationRequest:
        asked[facts.value("client_id")] = facts.values(name)
        return authorization.authorization_request(facts)

    def claims(facts: TokenFacts) -> JsonObject:
        audience = [facts.resource.indicator, *asked.get(facts.agent.id, [])]
        return access_token_claims(facts) | {"aud": audience}

    return {"authorization_request": request, "access_token_claims": claims}


def scope_of(facts: TokenFacts) -> str:
    """The scopes in the token request, or the granted scopes if it has none."""
    return facts.request.value("scope") or " ".join(facts.scopes)


def answer_with_that_scope(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    return token_answer(facts, tokens) | {"scope": scope_of(facts)}


DEFECTS = (
    defect(
        "aud-by-a-field-of-the-exchange (CLAIM-02 CODE-16): `aud` also contains the value of the field "
        "`resource` of an exchange or a refresh.",
        access_token_claims=audience_by_form("resource"),
    ),
    defect(
        "aud-by-a-parameter-of-the-request (CLAIM-02): `aud` also contains the value of the parameter "
        "`audience` of the authorization request.",
        **audience_by_query("audience"),
    ),
    defect(
        "scope-by-a-field-of-the-exchange (AUTHZ-18 CODE-16): The gateway grants the scopes in the field "
        "`scope` of an exchange, if it is present.",
        access_token_claims=lambda facts: access_token_claims(facts) | {"scope": scope_of(facts)},
        token_answer=answer_with_that_scope,
    ),
    defect(
        "refresh-asks-for-more (AUTHZ-18 CODE-16): A refresh can request scopes that were not granted.",
        refresh_checks=without(REFRESH_CHECKS, refresh_asks_for_no_more),
    ),
)
