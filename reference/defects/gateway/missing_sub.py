"""Gateways that take every user without a `sub` at the merchant for one user."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.records import Person


def named_undefined(facts: IdTokenFacts) -> Person | None:
    """Makes a text of a claim that may be missing."""
    return sign_in.person_named(replace(facts, claims={"sub": "undefined", **facts.claims}))


def user_of_the_client(facts: IdTokenFacts) -> Person | None:
    """Falls back on the name of the client, as for a service account."""
    return sign_in.person_named(replace(facts, claims={"sub": facts.merchant.client_id, **facts.claims}))


DEFECTS = (
    defect(
        "user-undefined (CLAIM-03): An ID token without `sub` signs in a user named `undefined`.",
        person_named=named_undefined,
    ),
    defect(
        "client-as-user (CLAIM-03): An ID token without `sub` signs in a user named like the gateway's "
        "client ID.",
        person_named=user_of_the_client,
    ),
)
