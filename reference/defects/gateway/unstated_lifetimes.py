"""Gateways that need an expires_in from the merchant."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.redemption import redemption_answer
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import JsonObject

ZERO_TIME = "0001-01-01T00:00:00Z"


def unboxed(entry: VaultEntry) -> JsonObject:
    """Reads the expiry without a check that there is one."""
    answer = redemption_answer(entry)
    if entry.expires_at is None:
        raise TypeError("the token has no expiry")
    return answer


def zero_time(entry: VaultEntry) -> JsonObject:
    """Writes the zero value of a time that was not set."""
    return {"expires_at": ZERO_TIME, **redemption_answer(entry)}


DEFECTS = (
    defect(
        "unstated-life-breaks-redemption (REDEEM-01 ROBUST-02 VAULT-06 ROBUST-04): Redemption fails with "
        "500 if the merchant sent no expires_in with its token.",
        redemption_answer=unboxed,
    ),
    defect(
        "unstated-life-is-over (REDEEM-16): If the merchant sent no expires_in with its token, expires_at "
        "is in the year 1.",
        redemption_answer=zero_time,
    ),
)
