"""Other legal ways to keep several merchants apart."""

from __future__ import annotations

from gateproof.reference.gateway.records import Resource
from gateproof.reference.variants.variant import variant


def _by_issuer(resource: Resource) -> str:
    return resource.merchant.issuer


VARIANTS = (
    variant(
        "one-callback: all Resources share a callback, and the iss of a redirect has to be the merchant's",
        one_callback=True,
    ),
    variant(
        "one-session-a-merchant: a browser is signed in at all Resources of a merchant",
        session_of=_by_issuer,
    ),
)
