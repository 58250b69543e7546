"""Gateways whose tokens have claims of earlier tokens, or in a wrong unit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gateproof.reference.defects.gateway.claims import only_signature_verified, with_claims, with_ext
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy.token_claims import (
    ACCESS_TOKEN_LIFETIME_S,
    TokenFacts,
    access_token_claims,
    id_token_claims,
)
from gateproof.reference.outcomes import JsonObject


def in_time_by_milliseconds(
    token: str, keys: Iterable[SigningKey], issuer: str, now: float
) -> Mapping[str, Any] | None:
    claims = only_signature_verified(token, keys, issuer, now)
    return claims if claims and claims["iss"] == issuer and now * 1000 < claims["exp"] else None


def sub_per(by: Callable[[TokenFacts], str]) -> dict[str, Any]:
    """The `sub` of both tokens differs for each value of `by`."""

    def sub(facts: TokenFacts) -> JsonObject:
        digest = hashlib.sha256(f"{facts.grant.sub} {by(facts)}".encode()).hexdigest()
        return {"sub": f"sub_{digest[:24]}"}

    return {
        "access_token_claims": with_claims(sub),
        "id_token_claims": lambda facts: id_token_claims(facts) | sub(facts),
    }


def audience_of_the_agents_grant() -> Callable[[TokenFacts], JsonObject]:
    """Keeps one audience list per agent and user; every authorization adds to it."""
    granted: dict[tuple[str, str], list[str]] = {}

    def wrong(facts: TokenFacts) -> JsonObject:
        audience = granted.setdefault((facts.agent.id, facts.grant.person.login_id), [])
        if facts.resource.indicator not in audience:
            audience.append(facts.resource.indicator)
        return access_token_claims(facts) | {"aud": list(audience)}

    return wrong


def project_of_the_agents_row() -> Callable[[TokenFacts], JsonObject]:
    """Stores one Project per agent: that of its first token."""
    rows: dict[str, str] = {}
    return with_ext(lambda facts: {"project_id": rows.setdefault(facts.agent.id, facts.resource.project_id)})


DEFECTS = (
    defect(
        "exp-in-milliseconds (CLAIM-04): `exp` is in milliseconds.",
        access_token_claims=with_claims(
            lambda facts: {"exp": (int(facts.now) + ACCESS_TOKEN_LIFETIME_S) * 1000}
        ),
        verified_claims=in_time_by_milliseconds,
    ),
    defect(
        "aud-of-the-agents-grant (CLAIM-02): `aud` contains every Resource indicator for which this user "
        "ever authorized this agent.",
        access_token_claims=audience_of_the_agents_grant(),
    ),
    defect(
        "project-id-of-the-agents-row (CLAIM-08 REDEEM-01): `ext.project_id` is the Project for which the "
        "agent got its first token.",
        access_token_claims=project_of_the_agents_row(),
    ),
)
