"""How long a gateway may take to notice that its merchant has recovered.

After merchant errors, some gateways stop calling the merchant for a while (usually half a minute) and answer
with an error themselves. Such a gateway notices the recovery only with its next call.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.kit.gateway.merchant_backoff import may_be_backoff
from gateproof.conformance.suite.time_limits import BREAKER_S, RECOVERY_S
from gateproof.conformance.wire.exchange import Exchange

SIGN_IN_GRANT = "authorization_code"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """When one user's merchant recovered, and its last journal entry before that."""

    alone: IsolatedUser
    begun: float
    since: int

    def is_over(self, answer: Exchange | None) -> bool:
        """True if the gateway has had enough time to recover; `answer` is None for a step that failed."""
        passed_s, worker_state = time.monotonic() - self.begun, self.alone.world.worker_state
        if passed_s <= RECOVERY_S:
            return False
        in_backoff = answer is not None and answer.status is not None and may_be_backoff(answer.status)
        if not in_backoff or worker_state.backoff_wait_failed or self._was_called():
            return True
        # If waiting did not help once, it will not help for any other fault.
        worker_state.backoff_wait_failed = passed_s > BREAKER_S
        return worker_state.backoff_wait_failed

    def _was_called(self) -> bool:
        return any(
            entry.ordinal > self.since and entry.grant not in {None, SIGN_IN_GRANT}
            for entry in self.alone.journal()
        )


def recovery_from_now(alone: IsolatedUser) -> Recovery:
    """Marks the moment from which the merchant works again."""
    since = max((entry.ordinal for entry in alone.journal()), default=0)
    return Recovery(alone=alone, begun=time.monotonic(), since=since)
