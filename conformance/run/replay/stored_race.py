"""A stored race: its check, seed and size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.checks import races
from gateproof.conformance.suite.races import examples_for

KIND = "race"
ROLES = ("gateway", "service")
_NUMBERS = ("seed", "racers", "rounds", "first")


class NoRace(ValueError):
    """The stored data is not a race that can be run; the text says what was found and what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRace:
    """One case of a check, with its seed and the number of examples that gives this size."""

    check: str
    seed: int
    examples: int


def stored_race(raw: Mapping[str, Any]) -> StoredRace:
    """The race of a failed check; unknown and missing members are refused."""
    # Older files have no `first`; their races started with the first round.
    raw, known = {"first": 0, **raw}, {"kind", "check", *_NUMBERS}
    if raw.get("kind") != KIND:
        raise NoRace(f"kind: found {raw.get('kind')!r}, expected {KIND!r}")
    if odd := sorted(raw.keys() ^ known):
        raise NoRace(f"{', '.join(odd)}: expected exactly {', '.join(sorted(known))}")
    for name in _NUMBERS:
        if isinstance(raw[name], bool) or not isinstance(raw[name], int) or raw[name] < 0:
            raise NoRace(f"{name}: found {raw[name]!r}, expected a whole number")
    if not isinstance(raw["check"], str) or raw["check"] not in _cases():
        raise NoRace(f"check: found {raw['check']!r}, which this version does not have")
    examples = examples_for(raw["racers"], raw["rounds"])
    if examples is None:
        raise NoRace(
            f"{raw['racers']} racers in {raw['rounds']} rounds: no --examples makes races of this size"
        )
    return StoredRace(check=raw["check"], seed=raw["seed"], examples=examples)


def _cases() -> frozenset[str]:
    return frozenset(case for role in ROLES for check in races(role) for case in check.ids())
