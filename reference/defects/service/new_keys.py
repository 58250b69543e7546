"""Services that skip a claim check if they had to fetch the key of a token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import validation
from gateproof.reference.service.policy.validation import (
    CLAIM_CHECKS,
    ClaimCheck,
    ClaimFacts,
    Jwk,
    signed_claims,
)


def unchecked_after_a_fetch(honest: ClaimCheck) -> dict[str, Any]:
    """`except UnknownKey: keys.fetch(); return decode(token, keys)`, which skips the code after the try."""
    fetched_for: set[str] = set()

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        if validation.header_of(token).get("kid") not in {jwk.get("kid") for jwk in keys}:
            fetched_for.add(token)
        return signed_claims(token, keys)

    def check(facts: ClaimFacts) -> bool:
        return facts.token in fetched_for or honest(facts)

    return {"signed_claims": claims_of, "claim_checks": instead(CLAIM_CHECKS, honest, check)}


DEFECTS = (
    defect(
        "issuer-unread-after-a-search-for-the-key (CHAL-05): The service does not check the issuer of a "
        "token whose key it had to fetch.",
        **unchecked_after_a_fetch(validation.issued_by_the_core),
    ),
    defect(
        "audience-unread-after-a-search-for-the-key (CHAL-06): The service does not check the audience of a "
        "token whose key it had to fetch.",
        **unchecked_after_a_fetch(validation.meant_for_the_merchant_api),
    ),
    defect(
        "expiry-unread-after-a-search-for-the-key (CHAL-07): The service does not check the expiry of a "
        "token whose key it had to fetch.",
        **unchecked_after_a_fetch(validation.not_expired),
    ),
)
