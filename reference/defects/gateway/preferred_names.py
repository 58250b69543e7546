"""Gateways that identify a user by the `preferred_username` of the merchant."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.gateway.cached_claims import sub_per
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.records import Person


def named_by_preference(facts: IdTokenFacts) -> Person | None:
    person = sign_in.person_named(facts)
    return person and replace(person, login_id=person.preferred_username)


DEFECTS = (
    defect(
        "user-by-preferred-username (REDEEM-12 CLAIM-03): The gateway identifies users by the "
        "preferred_username of the merchant.",
        person_named=named_by_preference,
    ),
    defect(
        "sub-by-preferred-username (CLAIM-03): A user whose preferred_username changes at the merchant gets "
        "another sub.",
        **sub_per(lambda facts: facts.grant.person.preferred_username),
    ),
)
