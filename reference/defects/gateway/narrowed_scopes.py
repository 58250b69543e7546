"""Gateways that look for the redemption scope on the grant instead of the token that is sent."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption, token_claims
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens
from gateproof.reference.outcomes import JsonObject, Refusal


def is_narrowed(facts: TokenFacts) -> bool:
    """True for a refresh whose `scope` parameter leaves out the redemption scope."""
    named = facts.request.value("scope").split()
    return bool(named) and REDEMPTION_SCOPE not in named


def as_asked(facts: TokenFacts, said: JsonObject) -> JsonObject:
    """The claims or the token answer, without the redemption scope if the refresh left it out."""
    if not is_narrowed(facts):
        return said
    return said | {"scope": " ".join(scope for scope in facts.scopes if scope != REDEMPTION_SCOPE)}


def narrowed_claims(facts: TokenFacts) -> JsonObject:
    return as_asked(facts, token_claims.access_token_claims(facts))


def narrowed_answer(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    return as_asked(facts, token_claims.token_answer(facts, tokens))


def looked_for_on_the_grant() -> dict[str, Any]:
    """Tokens from a refresh with fewer scopes redeem with the scopes of their grant."""
    narrowed: set[str] = set()

    def claims(facts: TokenFacts) -> JsonObject:
        if is_narrowed(facts):
            narrowed.add(facts.jti)
        return narrowed_claims(facts)

    def may_redeem(facts: RedemptionFacts) -> Refusal | None:
        if facts.claims is not None and facts.claims.get("jti") in narrowed:
            return None
        return redemption.user_token_may_redeem(facts)

    checks = instead(REDEMPTION_CHECKS, redemption.user_token_may_redeem, may_redeem)
    return {
        "access_token_claims": claims,
        "token_answer": narrowed_answer,
        "redemption_checks": checks,
        "redemption_rechecks": checks,
    }


DEFECTS = (
    defect(
        "redemption-scope-of-the-grant (REDEEM-08): The gateway looks for the redemption scope on the grant "
        "instead of the token, so a token from a refresh with fewer scopes redeems.",
        **looked_for_on_the_grant(),
    ),
)
