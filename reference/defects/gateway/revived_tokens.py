"""Gateways in which a refresh extends the life of the grant's earlier access tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateproof.reference.defects.gateway.claims import only_signature_verified
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy.token_claims import (
    ACCESS_TOKEN_LIFETIME_S,
    TokenFacts,
    access_token_claims,
)
from gateproof.reference.outcomes import JsonObject


def alive_with_their_grant() -> dict[str, Any]:
    """Access tokens are accepted until the last access token of their grant expires."""
    ends: dict[str, float] = {}
    grants: dict[str, str] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        grants[facts.jti] = facts.grant.id
        ends[facts.grant.id] = facts.now + ACCESS_TOKEN_LIFETIME_S
        return access_token_claims(facts)

    def verified(token: str, keys: Iterable[SigningKey], issuer: str, now: float) -> Mapping[str, Any] | None:
        found = only_signature_verified(token, keys, issuer, now)
        if found is None or found.get("iss") != issuer:
            return None
        return found if now < ends.get(grants.get(found.get("jti", ""), ""), 0.0) else None

    return {"access_token_claims": claims, "verified_claims": verified}


DEFECTS = (
    defect(
        "access-token-revived-by-a-refresh (REDEEM-11): After a refresh, earlier access tokens of the grant "
        "redeem although they have expired.",
        **alive_with_their_grant(),
    ),
)
