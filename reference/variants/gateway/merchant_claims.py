"""Other legal uses of the merchant's claims about a user's authentication."""

from __future__ import annotations

from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.records import Person
from gateproof.reference.variants.variant import variant


def _said_as_expected(facts: IdTokenFacts) -> Person | None:
    """Requires a context class of level 2, and methods as a list of strings."""
    acr, amr = facts.claims.get("acr", ":al2"), facts.claims.get("amr", ["pwd"])
    texts = isinstance(amr, list) and bool(amr) and all(isinstance(method, str) for method in amr)
    as_expected = isinstance(acr, str) and acr.endswith(":al2") and texts
    return sign_in.person_named(facts) if as_expected else None


VARIANTS = (
    variant(
        "merchants-authentication-is-checked: the gateway refuses a user whose ID token from the merchant "
        "has an `acr` other than al2, or an `amr` that is not a list of strings",
        person_named=_said_as_expected,
    ),
)
