"""Gateways that do not accept every Resource indicator, which the specification leaves open."""

from __future__ import annotations

from gateproof.reference.gateway.policy.authorization import REDIRECT_CHECKS, AuthorizationFacts
from gateproof.reference.outcomes import Refusal
from gateproof.reference.variants.variant import variant

LONGEST = 255


def _plain_indicators(facts: AuthorizationFacts) -> Refusal | None:
    """Allows a Resource to have an unusual indicator, but signs nobody in there."""
    indicator = facts.resource.indicator
    if indicator.isascii() and "%" not in indicator and len(indicator) <= LONGEST:
        return None
    return Refusal(status=400, error="invalid_target", description="not a Resource that is served here")


VARIANTS = (
    variant(
        "plain-indicators-alone: nobody can sign in at a Resource whose indicator has more than 255 "
        "characters, a character outside ASCII, or an escape",
        redirect_checks=(*REDIRECT_CHECKS, _plain_indicators),
    ),
)
