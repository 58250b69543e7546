"""The target's time; its clock may have been moved."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import inf

from gateproof.conformance.suite.time_limits import CLOCK_SKEW_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import read
from gateproof.conformance.wire.secret import Secret

# Clocks on one machine agree. A larger difference means that the target runs on another machine; then its
# clock counts.
SKEW_S = 2.0


@dataclass(kw_only=True, slots=True)
class Clock:
    """How far this worker knows that the target's clock was moved, and whether it can be moved."""

    offset_s: float = 0.0
    moves: bool | None = None

    def target_time(self, answer: Exchange) -> float:
        """The target's time. Its Date header may or may not follow a clock that was moved."""
        wall = time.time()
        ahead = _date_of(answer, wall) - wall
        skew = min(ahead, ahead - self.offset_s, key=abs)
        return wall + self.offset_s + (skew if abs(skew) > CLOCK_SKEW_S else 0)

    def life_s(self, token: Secret, answer: Exchange) -> float:
        """Remaining lifetime of a token from this answer, by its `exp`; infinite without one."""
        parsed = read(token.reveal())
        exp = parsed.claims.get("exp") if parsed is not None else None
        if isinstance(exp, bool) or not isinstance(exp, int | float):
            return inf
        try:
            return exp - self.target_time(answer)
        except OverflowError:
            return inf if exp > 0 else -inf


def _date_of(answer: Exchange, otherwise: float) -> float:
    try:
        date: datetime = parsedate_to_datetime(answer.header("Date") or "")
        return date.timestamp()
    except (ValueError, OverflowError):
        return otherwise
