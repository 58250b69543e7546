"""Gateways at which a refresh can request fewer scopes than were granted."""

from __future__ import annotations

from gateproof.reference.defects.gateway.narrowed_scopes import narrowed_answer, narrowed_claims
from gateproof.reference.variants.variant import variant

VARIANTS = (
    variant(
        "narrower-refresh-redeems-nothing: a refresh that does not request ext_token:read returns a token "
        "without it",
        access_token_claims=narrowed_claims,
        token_answer=narrowed_answer,
    ),
)
