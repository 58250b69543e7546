"""Gateways that publish keys late or in a wrong key set, or sign with a key that they do not publish."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.policy import key_sets
from gateproof.reference.ids import Ids

LATE_S = 60


def made_once() -> dict[str, Any]:
    """Builds the key set at the first request and keeps it."""
    made: list[SigningKey] = []

    def shown(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        made[:] = made or key_sets.core_keys_shown(core, now, own)
        return tuple(made)

    return {"core_keys_shown": shown}


def a_minute_late(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    """Publishes a new key a minute late, but signs with it at once."""
    keys = key_sets.core_keys_shown(core, now, own)
    late = bool(core.retired) and now < core.retired[-1].retired_at + LATE_S
    return tuple(key for key in keys if not late or key.kid != core.current.kid)


def oldest_key(core: KeyRing, _own: SigningKey) -> SigningKey:
    """Signs with the oldest key, as a process that read the keys only at its start."""
    return core.retired[0].key if core.retired else core.current


def among_later_resources() -> dict[str, Any]:
    """The key set of every Resource except the first also has the core key."""
    first: list[str] = []

    def new_resource_key(ids: Ids) -> SigningKey:
        key = new_key(ids)
        first[:] = first or [key.kid]
        return key

    def shown(core: KeyRing, own: SigningKey) -> tuple[SigningKey, ...]:
        return (own,) if own.kid in first else (own, core.current)

    return {"new_resource_key": new_resource_key, "resource_keys_shown": shown}


DEFECTS = (
    defect(
        "key-set-made-once (KEYS-01 CLAIM-11): The core key set is built at its first request and never "
        "changes.",
        **made_once(),
    ),
    defect(
        "new-key-published-a-minute-late (KEYS-01 CLAIM-11): The gateway signs with a new core key at once, "
        "but publishes it a minute later.",
        core_keys_shown=a_minute_late,
    ),
    defect(
        "rotation-reaches-the-key-set-alone (KEYS-01 KEYS-04): After a rotation the core key set has only "
        "the new key, while access tokens are signed with the oldest one.",
        core_keys_shown=lambda core, _now, _own: (core.current,),
        access_token_key=oldest_key,
    ),
    defect(
        "core-key-among-later-resources (KEYS-02): The key set of every Resource except the first also "
        "contains the core key.",
        **among_later_resources(),
    ),
)
