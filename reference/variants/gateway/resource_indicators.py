"""Gateways that do not serve every Resource indicator: which ones a gateway takes is open."""

from __future__ import annotations

from gateproof.reference.gateway.policy.authorization import REDIRECT_CHECKS, AuthorizationFacts
from gateproof.reference.outcomes import Refusal
from gateproof.reference.variants.variant import variant

LONGEST = 255


def _plain_indicators(facts: AuthorizationFacts) -> Refusal | None:
    """A Resource may have an odd indicator, but nobody is signed in there."""
    indicator = facts.resource.indicator
    if indicator.isascii() and "%" not in indicator and len(indicator) <= LONGEST:
        return None
    return Refusal(status=400, error="invalid_target", description="not a Resource that is served here")


VARIANTS = (
    variant(
        "plain-indicators-alone: nobody is signed in at a Resource whose indicator is longer than 255 "
        "characters, or has other characters than those of ASCII, or an escape",
        redirect_checks=(*REDIRECT_CHECKS, _plain_indicators),
    ),
)
