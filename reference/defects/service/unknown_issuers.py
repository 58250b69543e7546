"""Services that check no issuer while they do not know it."""

from __future__ import annotations

import math
from dataclasses import replace

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import validation
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.policy.validation import ClaimFacts


def keys_without_an_issuer(before: Known | None) -> Known | None:
    """`const { issuer } = await discovery().catch(() => ({}))`; the keys have a cache of their own."""
    return replace(before, issuer="", fetched_at=-math.inf) if before is not None else None


def issued_by_whom_it_knows(facts: ClaimFacts) -> bool:
    """`jwtVerify(token, keys, { issuer: undefined })` checks no issuer."""
    return not facts.issuer or validation.issued_by_the_core(facts)


DEFECTS = (
    defect(
        "issuer-unchecked-without-discovery (CHAL-05): While the discovery document cannot be fetched, the "
        "service uses the keys that it has, and accepts any issuer.",
        keys_while_out_of_reach=keys_without_an_issuer,
        claim_checks=instead(validation.CLAIM_CHECKS, validation.issued_by_the_core, issued_by_whom_it_knows),
    ),
)
