"""The target's current time; its clock may have been moved."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import ceil, inf

from gateproof.conformance.suite.time_limits import CLOCK_SKEW_S
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import ControlPlane, Unsupported
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import read
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant.admin import MerchantAdmin


@dataclass(kw_only=True, slots=True)
class Clock:
    """By how much this worker moved the target's clock, and whether the clock can be moved."""

    offset_s: float = 0.0
    control: ControlPlane | None = None
    merchant: MerchantAdmin | None = None
    # True if the target declares that its clock can be moved.
    offered: bool = False
    moves: bool | None = None

    def target_time(self, answer: Exchange) -> float:
        """The target's current time; its Date header may or may not follow the moved clock."""
        wall = time.time()
        ahead = _date_of(answer, wall) - wall
        skew = min(ahead, ahead - self.offset_s, key=abs)
        return wall + self.offset_s + (skew if abs(skew) > CLOCK_SKEW_S else 0)

    def can_move(self) -> bool:
        """True if the target's clock can be moved; a control that listed no actions is tried once."""
        if not self.offered:
            return False
        if self.moves is None:
            try:
                self.advance(1)
            except Unsupported:
                self.moves = False
        return bool(self.moves)

    def advance(self, seconds: float) -> None:
        """Moves the target's clock, and the fake merchant's with it, by whole seconds, rounded up.

        A control with a typed request may accept only integers.
        """
        seconds = ceil(seconds)
        actions.advance_clock(control_for(self.control, "advance_clock"), seconds)
        self.moves = True
        self.offset_s += seconds
        if self.merchant is not None:
            self.merchant.set_clock_offset(self.offset_s)

    def life_s(self, token: Secret, answer: Exchange) -> float:
        """Seconds until the `exp` of a token that came with this response; infinite without an `exp`."""
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
