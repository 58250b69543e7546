"""A merchant that will have nothing to do with the gateway itself."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.suite.claims import LeftOut, Unmet

# `invalid_client` with the challenge that HTTP asks for, and `access_denied`.
STATUSES: Mapping[str, int] = {"invalid-client": 401, "access-denied": 403}


def merchant_rejected_the_gateway(alone: IsolatedUser) -> None:
    """The gateway asked for a token of this user's, and was turned away."""
    try:
        alone.require_outcome("turn_away")
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
