"""Gateways that look in the vault for any merchant token of the user if there is none for the Resource."""

from __future__ import annotations

import json
from dataclasses import replace

from gateproof.doubles.compact_jws import parsed_jwt
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.redemption import redemption_answer

_REDEMPTION = "/api/credentials/token"


def first_of_the_user(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """In place of 404, answers with the user's first merchant token in the Project."""
    if answered.status != 404 or not asked.path.endswith(_REDEMPTION):
        return answered
    token = parsed_jwt(asked.headers.get("authorization", "").partition(" ")[2])
    claims = token.claims if token is not None else {}
    for key, entry in gateway.store.vault.items():
        if (key.project_id, key.sub) == (claims.get("ext", {}).get("project_id"), claims.get("sub")):
            return replace(answered, status=200, body=json.dumps(redemption_answer(entry)).encode())
    return answered


DEFECTS = (
    defect(
        "sibling-token-in-place-of-none (REDEEM-10 REDEEM-12): If the merchant gave no token for a Resource, "
        "redemption returns the user's token for another Resource of the Project.",
        around=altering_answers(first_of_the_user),
    ),
)
