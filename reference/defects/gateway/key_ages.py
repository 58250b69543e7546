"""Gateways that delete old core keys by their age, not by the time since their rotation."""

from __future__ import annotations

import time
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.policy import key_sets
from gateproof.reference.ids import Ids

_MONTH_S = 30 * 86_400


class _ByAge:
    """Keeps every retired key until a month after its creation."""

    def __init__(self) -> None:
        self._began = 0.0

    def new_core_key(self, ids: Ids) -> SigningKey:
        self._began = self._began or time.time()
        return new_key(ids)

    def live(self, core: KeyRing, now: float) -> tuple[SigningKey, ...]:
        """The first key was created at the start, every other one when the key before it was retired."""
        self._began = self._began or now
        created = (self._began, *(old.retired_at for old in core.retired))
        ages = zip(core.retired, created, strict=False)
        return (core.current, *(old.key for old, since in ages if now < since + _MONTH_S))

    def shown(self, core: KeyRing, now: float, _own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        return self.live(core, now)


def kept_for_a_month() -> dict[str, Any]:
    by_age = _ByAge()
    return {
        "new_core_key": by_age.new_core_key,
        "live_core_keys": by_age.live,
        "core_keys_shown": by_age.shown,
    }


def redeemed_for_a_month() -> dict[str, Any]:
    """The key set is right, but redemption does not know the older keys."""
    return kept_for_a_month() | {"core_keys_shown": key_sets.core_keys_shown}


DEFECTS = (
    defect(
        "keys-kept-by-their-age (KEYS-04): A retired core key is deleted 30 days after its creation, even if "
        "it was in use until a moment ago.",
        **kept_for_a_month(),
    ),
    defect(
        "keys-redeemed-by-their-age (KEYS-04): Redemption does not accept tokens of a retired core key that "
        "was created more than 30 days ago; the key set still has the key.",
        **redeemed_for_a_month(),
    ),
)
