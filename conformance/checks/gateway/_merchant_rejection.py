"""A merchant that rejects the gateway's own client credentials."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.suite.claims import LeftOut, Unmet

# `invalid_client` with the challenge that HTTP requires, and `access_denied`.
STATUSES: Mapping[str, int] = {"invalid-client": 401, "access-denied": 403}


def merchant_rejected_the_gateway(alone: IsolatedUser) -> None:
    """The gateway requested a token for this user, and the merchant rejected the gateway."""
    try:
        alone.require_outcome("turn_away")
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
