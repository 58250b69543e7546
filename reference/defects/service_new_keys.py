"""Services that are wrong about keys that they have just found, or that say little of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from reference.defects.defect import instead
from reference.defects.service_defect import ServiceDefect, defect
from reference.service.policy import validation
from reference.service.policy.validation import CLAIM_CHECKS, ClaimCheck, ClaimFacts, Jwk, signed_claims


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


def choosing(fits: Callable[[Mapping[str, Any], Jwk], bool]) -> dict[str, Any]:
    """Of the keys with the right name, those that fit in another way as well are tried."""

    def chosen(header: Mapping[str, Any], keys: Sequence[Jwk]) -> list[Jwk]:
        return [jwk for jwk in validation.candidates(header, keys) if fits(header, jwk)]

    return {"signed_claims": partial(signed_claims, chosen=chosen)}


NEW_KEYS: tuple[ServiceDefect, ...] = (
    defect(
        "issuer-unread-after-a-search-for-the-key",
        "The issuer of a token whose key had to be looked for is not looked at.",
        "CHAL-05",
        **unread_after_a_search(validation.issued_by_the_core),
    ),
    defect(
        "audience-unread-after-a-search-for-the-key",
        "The audience of a token whose key had to be looked for is not looked at.",
        "CHAL-06",
        **unread_after_a_search(validation.meant_for_the_merchant_api),
    ),
    defect(
        "expiry-unread-after-a-search-for-the-key",
        "The expiry of a token whose key had to be looked for is not looked at.",
        "CHAL-07",
        **unread_after_a_search(validation.not_expired),
    ),
    defect(
        "key-without-alg-passed-over",
        "A key that does not say for which algorithm it is verifies nothing.",
        "SERVE-02",
        **choosing(lambda header, jwk: jwk.get("alg") == header.get("alg")),
    ),
    defect(
        "key-without-use-passed-over",
        "A key that does not say that it is for signatures verifies nothing.",
        "SERVE-02",
        **choosing(lambda _header, jwk: jwk.get("use") == "sig"),
    ),
)
