"""How long a gateway may take to notice that its merchant is itself again.

Some leave a merchant in peace that has failed them, and answer for it meanwhile: usual libraries for half a
minute. Until such a gateway asks its merchant again, it has not met that the trouble is over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from conformance.seclusion import Seclusion
from conformance.standing import Standing
from conformance.wire.exchange import Exchange

# For whoever asks the merchant, and for whoever spares it.
RECOVERY_S, SPARING_S = 10.0, 65.0
SIGNS_IN = "authorization_code"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """The time since the merchant of one user was mended, and what it has been asked for since."""

    alone: Seclusion
    begun: float
    since: int

    def is_over(self, answer: Exchange | None) -> bool:
        """True once a gateway that answers like this has had its time; None stands for a step that failed."""
        passed_s, standing = time.monotonic() - self.begun, self.alone.world.standing
        if passed_s <= RECOVERY_S:
            return False
        spares = answer is not None and answer.status is not None and _spares(answer.status)
        if not spares or standing.spared_in_vain or self._asked():
            return True
        # Once it was in vain it would be for every other fault.
        standing.spared_in_vain = passed_s > SPARING_S
        return standing.spared_in_vain

    def _asked(self) -> bool:
        return any(
            entry.ordinal > self.since and entry.grant not in {None, SIGNS_IN}
            for entry in self.alone.journal()
        )


@dataclass(frozen=True, slots=True)
class Sparing:
    """How long a gateway may still leave the merchant in peace for what another check put it through."""

    standing: Standing
    begun: float = field(default_factory=time.monotonic)

    def is_over(self, answer: Exchange) -> bool:
        """True once a gateway that answers like this can have no such reason any more."""
        standing = self.standing
        if standing.spared_in_vain or answer.status is None or not _spares(answer.status):
            return True
        troubled_at = max(standing.troubled_at, self.begun if standing.in_company else float("-inf"))
        if self.begun > troubled_at + SPARING_S:
            return True
        standing.spared_in_vain = time.monotonic() > troubled_at + SPARING_S
        return standing.spared_in_vain


def mended_now(alone: Seclusion) -> Recovery:
    """The merchant is itself again from now on."""
    since = max((entry.ordinal for entry in alone.journal()), default=0)
    return Recovery(alone=alone, begun=time.monotonic(), since=since)


def _spares(status: int) -> bool:
    """404 is what a gateway says that has not asked for a token yet."""
    return status >= 500 or status == 404
