"""Gateways whose published keys come late, or stand where they do not belong."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.policy import key_sets
from gateproof.reference.ids import Ids

LATE_S = 60


def made_once() -> dict[str, Any]:
    """The key set is made when it is first asked for, and kept."""
    made: list[SigningKey] = []

    def shown(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        made[:] = made or key_sets.core_keys_shown(core, now, own)
        return tuple(made)

    return {"core_keys_shown": shown}


def a_minute_late(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
    """A new key waits for the caches of the key set to run out, but it signs meanwhile."""
    keys = key_sets.core_keys_shown(core, now, own)
    late = bool(core.retired) and now < core.retired[-1].retired_at + LATE_S
    return tuple(key for key in keys if not late or key.kid != core.current.kid)


def first_key_for_ever(core: KeyRing, _own: SigningKey) -> SigningKey:
    """A rotation reaches the key set, and what signs still holds the key that it was started with."""
    return core.retired[0].key if core.retired else core.current


def among_later_resources() -> dict[str, Any]:
    """The key set of every Resource but the first one is made of all keys at hand."""
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
        "key-set-made-once (KEYS-01 CLAIM-11): The core key set stays as it was when it was first asked for.",
        **made_once(),
    ),
    defect(
        "new-key-published-a-minute-late (KEYS-01 CLAIM-11): A new core key signs at once, and stands in the "
        "key set a minute later.",
        core_keys_shown=a_minute_late,
    ),
    defect(
        "rotation-reaches-the-key-set-alone (KEYS-01 KEYS-04): After a rotation the key set holds the new "
        "key alone, and access tokens are signed with the first one.",
        core_keys_shown=lambda core, _now, _own: (core.current,),
        access_token_key=first_key_for_ever,
    ),
    defect(
        "core-key-among-later-resources (KEYS-02): The key set of every Resource but the first one shows "
        "the core key too.",
        **among_later_resources(),
    ),
)
