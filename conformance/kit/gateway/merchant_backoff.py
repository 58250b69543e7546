"""How long a gateway's circuit breaker may stay open after merchant errors: usually half a minute."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.time_limits import BREAKER_S
from gateproof.conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Backoff:
    """Decides whether a gateway may still be in a back-off because of merchant errors in another check."""

    worker_state: WorkerState
    begun: float = field(default_factory=time.monotonic)

    def is_over(self, answer: Exchange) -> bool:
        """True if a back-off can no longer be the reason for this answer."""
        worker_state = self.worker_state
        if worker_state.backoff_wait_failed or answer.status is None or not may_be_backoff(answer.status):
            return True
        beside = self.begun if worker_state.shares_merchant else float("-inf")
        troubled_at = max(worker_state.merchant_failed_at, worker_state.merchant_failed_before, beside)
        if self.begun > troubled_at + BREAKER_S:
            return True
        worker_state.backoff_wait_failed = time.monotonic() > troubled_at + BREAKER_S
        return worker_state.backoff_wait_failed


def may_be_backoff(status: int) -> bool:
    """True for answers of a gateway in a back-off; 404 if it has not yet asked for a token."""
    return status >= 500 or status == 404
