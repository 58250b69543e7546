"""The calls in an MCP session that is older than the Proxy token of its service."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.conformance.wire.exchange import Exchange


@dataclass(frozen=True, kw_only=True, slots=True)
class CallsInAnOldSession:
    """`redeemed`: a call made a redemption.

    `lost_again`: the answer to a call that failed on an ended Proxy token on which a call had failed before.
    """

    redeemed: bool
    lost_again: Exchange | None
