"""Other legal uses of what the merchant says of a user's authentication."""

from __future__ import annotations

from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.records import Person
from gateproof.reference.variants.variant import variant


def _said_as_expected(facts: IdTokenFacts) -> Person | None:
    """A context class has to be of level 2, and methods have to be a list of texts."""
    acr, amr = facts.claims.get("acr", ":al2"), facts.claims.get("amr", ["pwd"])
    texts = isinstance(amr, list) and bool(amr) and all(isinstance(method, str) for method in amr)
    as_expected = isinstance(acr, str) and acr.endswith(":al2") and texts
    return sign_in.person_named(facts) if as_expected else None


VARIANTS = (
    variant(
        "merchants-authentication-is-checked: a user whom the merchant did not sign in at level 2, or of "
        "whom it names the methods in another form than a list, is not let in",
        person_named=_said_as_expected,
    ),
)
