"""Services that are wrong about tokens under keys that they have just found."""

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


def unread_after_a_search(honest: ClaimCheck) -> dict[str, Any]:
    """`except UnknownKey: keys.fetch(); return decode(token, keys)`, and what follows the try is left out."""
    sought: set[str] = set()

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        if validation.header_of(token).get("kid") not in {jwk.get("kid") for jwk in keys}:
            sought.add(token)
        return signed_claims(token, keys)

    def check(facts: ClaimFacts) -> bool:
        return facts.token in sought or honest(facts)

    return {"signed_claims": claims_of, "claim_checks": instead(CLAIM_CHECKS, honest, check)}


DEFECTS = (
    defect(
        "issuer-unread-after-a-search-for-the-key (CHAL-05): The issuer of a token whose key had to be "
        "looked for is not looked at.",
        **unread_after_a_search(validation.issued_by_the_core),
    ),
    defect(
        "audience-unread-after-a-search-for-the-key (CHAL-06): The audience of a token whose key had to be "
        "looked for is not looked at.",
        **unread_after_a_search(validation.meant_for_the_merchant_api),
    ),
    defect(
        "expiry-unread-after-a-search-for-the-key (CHAL-07): The expiry of a token whose key had to be "
        "looked for is not looked at.",
        **unread_after_a_search(validation.not_expired),
    ),
)
