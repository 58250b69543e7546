"""Gateways that treat an empty parameter as given."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization as honest
from gateproof.reference.gateway.policy.authorization import (
    REDIRECT_CHECKS,
    AuthorizationCheck,
    AuthorizationFacts,
)
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeFacts, verifier_matches
from gateproof.reference.outcomes import Refusal


def or_empty(check: AuthorizationCheck, name: str) -> AuthorizationCheck:
    """The correct check, but an empty value passes."""

    def wrong(facts: AuthorizationFacts) -> Refusal | None:
        return None if facts.values(name) == [""] else check(facts)

    return wrong


def verifier_of_a_challenge(facts: CodeFacts) -> Refusal | None:
    """Requires no verifier for a code without a challenge."""
    return None if facts.code is not None and not facts.code.challenge else verifier_matches(facts)


def both_empty(facts: AuthorizationFacts) -> bool:
    return facts.values("code_challenge") == facts.values("code_challenge_method") == [""]


def unless_both_empty(check: AuthorizationCheck) -> AuthorizationCheck:
    return lambda facts: None if both_empty(facts) else check(facts)


CODES_WITHOUT_PKCE: dict[str, Any] = {
    "code_checks": instead(CODE_CHECKS, verifier_matches, verifier_of_a_challenge)
}
PKCE_CHECKS = {honest.challenge_is_given, honest.challenge_method_is_s256}

DEFECTS = (
    defect(
        "empty-challenge-passes (AUTHZ-03): The gateway accepts an empty code_challenge, and the exchange "
        "then needs no verifier.",
        redirect_checks=instead(
            REDIRECT_CHECKS,
            honest.challenge_is_given,
            or_empty(honest.challenge_is_given, "code_challenge"),
        ),
        **CODES_WITHOUT_PKCE,
    ),
    defect(
        "empty-pkce-parameters-pass (AUTHZ-03): If code_challenge and code_challenge_method are both empty, "
        "the gateway uses no PKCE.",
        redirect_checks=tuple(
            unless_both_empty(check) if check in PKCE_CHECKS else check for check in REDIRECT_CHECKS
        ),
        **CODES_WITHOUT_PKCE,
    ),
)
