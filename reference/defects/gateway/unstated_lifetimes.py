"""Gateways that count on a merchant to say how long its tokens live."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.redemption import redemption_answer
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import JsonObject

ZERO_TIME = "0001-01-01T00:00:00Z"


def unboxed(entry: VaultEntry) -> JsonObject:
    """The expiry is read, whether or not there is one."""
    answer = redemption_answer(entry)
    if entry.expires_at is None:
        raise TypeError("the token has no expiry")
    return answer


def zero_time(entry: VaultEntry) -> JsonObject:
    """A time that was never set is written all the same."""
    return {"expires_at": ZERO_TIME, **redemption_answer(entry)}


DEFECTS = (
    defect(
        "unstated-life-breaks-redemption (REDEEM-01 ROBUST-02 VAULT-06 ROBUST-04): Redemption of a merchant "
        "token whose life the merchant did not state ends in an error.",
        redemption_answer=unboxed,
    ),
    defect(
        "unstated-life-is-over (REDEEM-16): The expires_at of a merchant token whose life the merchant did "
        "not state is in the year 1.",
        redemption_answer=zero_time,
    ),
)
