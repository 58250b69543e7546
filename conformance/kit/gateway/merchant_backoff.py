"""How long a gateway may leave a merchant in peace that has failed it: usual libraries take half a minute."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.time_limits import BREAKER_S
from gateproof.conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a gateway may still leave the merchant in peace for what another check put it through."""

    standing: WorkerState
    begun: float = field(default_factory=time.monotonic)

    def is_over(self, answer: Exchange) -> bool:
        """True once a gateway that answers like this can have no such reason any more."""
        standing = self.standing
        if standing.spared_in_vain or answer.status is None or not spares(answer.status):
            return True
        beside = self.begun if standing.in_company else float("-inf")
        troubled_at = max(standing.troubled_at, standing.troubled_before, beside)
        if self.begun > troubled_at + BREAKER_S:
            return True
        standing.spared_in_vain = time.monotonic() > troubled_at + BREAKER_S
        return standing.spared_in_vain


def spares(status: int) -> bool:
    """404 is what a gateway says that has not asked for a token yet."""
    return status >= 500 or status == 404
