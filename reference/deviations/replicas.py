"""Key sets that two processes serve in turn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy.key_sets import core_keys_shown

Shown = Callable[[KeyRing, float, tuple[SigningKey, ...]], tuple[SigningKey, ...]]


def alternating_key_sets(other: Shown) -> Shown:
    """Takes every second key set from a process that shows other keys."""
    turns = cycle((core_keys_shown, other))

    def shown(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        return next(turns)(core, now, own)

    return shown
