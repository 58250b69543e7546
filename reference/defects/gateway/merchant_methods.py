"""Gateways that copy acr and amr of the merchant's ID token into their own tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in, token_claims
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts
from gateproof.reference.gateway.records import Person
from gateproof.reference.outcomes import JsonObject


def copied(claim: str, of: Callable[[Any], object]) -> dict[str, Any]:
    """Copies the claim of the user's newest ID token, if it has one, into `ext`."""
    said: dict[str, object] = {}

    def person_named(facts: IdTokenFacts) -> Person | None:
        person = sign_in.person_named(facts)
        if person is not None:
            said[person.login_id] = facts.claims.get(claim)
        return person

    def claims(facts: TokenFacts) -> JsonObject:
        honest = token_claims.access_token_claims(facts)
        value = said.get(facts.grant.person.login_id)
        return honest if value is None else {**honest, "ext": {**honest["ext"], claim: of(value)}}

    return {"person_named": person_named, "access_token_claims": claims}


DEFECTS = (
    defect(
        "acr-as-the-merchant-says (CLAIM-05): ext.acr is the acr of the merchant's ID token, if it has one.",
        **copied("acr", lambda said: said),
    ),
    defect(
        "acr-as-a-merchants-name-says (CLAIM-05): ext.acr is the acr of the merchant's ID token, if that is "
        "a URN.",
        **copied(
            "acr",
            lambda said: said if isinstance(said, str) and said.startswith("urn:") else token_claims.ACR,
        ),
    ),
    defect(
        "amr-as-the-merchant-says (CLAIM-06): ext.amr is the amr of the merchant's ID token, if it has one.",
        **copied("amr", lambda said: said),
    ),
    defect(
        "amr-list-taken-unread (CLAIM-06): ext.amr is the amr of the merchant's ID token, if that is a list, "
        "with unchecked members.",
        **copied("amr", lambda said: said if isinstance(said, list) else list(token_claims.AMR_WHEN_UNSAID)),
    ),
)
