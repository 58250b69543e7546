"""Gateways at which a refresh may ask for less than was granted."""

from __future__ import annotations

from gateproof.reference.defects.gateway.narrowed_scopes import narrowed_answer, narrowed_claims
from gateproof.reference.variants.variant import variant

VARIANTS = (
    variant(
        "narrower-refresh-redeems-nothing: a refresh that does not name the scope of redemption brings a "
        "token without it",
        access_token_claims=narrowed_claims,
        token_answer=narrowed_answer,
    ),
)
