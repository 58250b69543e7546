"""Gateways with several processes that do not share the core keys."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.replicas import Shown, alternating_key_sets
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.policy.key_sets import core_keys_shown
from gateproof.reference.ids import RandomIds


def with_a_key_of_its_own() -> Shown:
    """A process that publishes only a key that it made at its start."""
    own: list[SigningKey] = []

    def shown(_core: KeyRing, _now: float, _own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        if not own:
            own.append(new_key(RandomIds()))
        return tuple(own)

    return shown


def in_turn_with_the_first_keys() -> Shown:
    """Every second key set comes from a process that read the keys only once, at the first fetch."""
    known: list[SigningKey] = []
    either = alternating_key_sets(lambda *_: tuple(known))

    def shown(core: KeyRing, now: float, own: tuple[SigningKey, ...]) -> tuple[SigningKey, ...]:
        if not known:
            known.extend(core_keys_shown(core, now, own))
        return either(core, now, own)

    return shown


DEFECTS = (
    defect(
        "each-process-shows-its-own-key (KEYS-01 KEYS-04): Every second fetch of the core key set returns "
        "the key of a process that does not sign.",
        core_keys_shown=alternating_key_sets(with_a_key_of_its_own()),
    ),
    defect(
        "one-process-never-reads-keys-again (KEYS-01 KEYS-04): Every second fetch of the core key set "
        "returns the keys of the first fetch, without later ones.",
        core_keys_shown=in_turn_with_the_first_keys(),
    ),
)
