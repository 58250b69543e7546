"""Other legal ways to separate several merchants."""

from __future__ import annotations

from gateproof.reference.gateway.records import Resource
from gateproof.reference.variants.variant import variant


def _by_issuer(resource: Resource) -> str:
    return resource.merchant.issuer


VARIANTS = (
    variant(
        "one-callback: all Resources share one callback, and the `iss` of a redirect must be the merchant's "
        "issuer",
        one_callback=True,
    ),
    variant(
        "one-session-a-merchant: a browser has one session for all Resources of a merchant",
        session_of=_by_issuer,
    ),
)
