"""Gateways that use a different issuer or jwks_uri for each Project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.claims import only_signature_verified
from gateproof.reference.defects.gateway.metadata import with_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy.redemption import verified_claims
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims, id_token_claims
from gateproof.reference.outcomes import JsonObject


def realm(core_url: str, project_id: str) -> str:
    return f"{core_url}/realms/{project_id}"


def of_the_realm(facts: TokenFacts) -> TokenFacts:
    return replace(facts, issuer=realm(facts.issuer, facts.resource.project_id))


def access_token_of_the_realm(facts: TokenFacts) -> JsonObject:
    return access_token_claims(of_the_realm(facts))


def id_token_of_the_realm(facts: TokenFacts) -> JsonObject:
    return id_token_claims(of_the_realm(facts))


def of_any_realm(token: str, keys: Iterable[SigningKey], issuer: str, now: float) -> Mapping[str, Any] | None:
    claims = only_signature_verified(token, keys, "", now)
    own = claims is not None and str(claims["iss"]).startswith(f"{issuer}/realms/")
    return verified_claims(token, keys, claims["iss"], now) if claims and own else None


DEFECTS = (
    defect(
        "issuer-per-project (DISC-02): Each Project has its own issuer, in discovery and in tokens.",
        discovery_document=with_members(
            lambda facts: {"issuer": realm(facts.core_url, facts.resource.project_id)}
        ),
        access_token_claims=access_token_of_the_realm,
        id_token_claims=id_token_of_the_realm,
        verified_claims=of_any_realm,
    ),
    defect(
        "jwks-uri-per-project (DISC-05): Each Project announces its own jwks_uri for the core key set.",
        discovery_document=with_members(
            lambda facts: {"jwks_uri": f"{facts.core_url}/jwks?realm={facts.resource.project_id}"}
        ),
    ),
)
