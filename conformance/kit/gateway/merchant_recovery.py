"""How long a gateway may take to notice that its merchant is itself again.

Some leave a merchant in peace that has failed them, and answer for it meanwhile: usual libraries for half a
minute. Until such a gateway asks its merchant again, it has not met that the trouble is over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.kit.gateway.merchant_backoff import spares
from gateproof.conformance.suite.time_limits import BREAKER_S, RECOVERY_S
from gateproof.conformance.wire.exchange import Exchange

SIGNS_IN = "authorization_code"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """The time since the merchant of one user was mended, and what it has been asked for since."""

    alone: IsolatedUser
    begun: float
    since: int

    def is_over(self, answer: Exchange | None) -> bool:
        """True once a gateway that answers like this has had its time; None stands for a step that failed."""
        passed_s, standing = time.monotonic() - self.begun, self.alone.world.standing
        if passed_s <= RECOVERY_S:
            return False
        sparing = answer is not None and answer.status is not None and spares(answer.status)
        if not sparing or standing.spared_in_vain or self._asked():
            return True
        # Once it was in vain it would be for every other fault.
        standing.spared_in_vain = passed_s > BREAKER_S
        return standing.spared_in_vain

    def _asked(self) -> bool:
        return any(
            entry.ordinal > self.since and entry.grant not in {None, SIGNS_IN}
            for entry in self.alone.journal()
        )


def mended_now(alone: IsolatedUser) -> Recovery:
    """The merchant is itself again from now on."""
    since = max((entry.ordinal for entry in alone.journal()), default=0)
    return Recovery(alone=alone, begun=time.monotonic(), since=since)
