"""The shards of one run or one proof: whether all are there, and their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

_SHARD = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)")
T = TypeVar("T")


class CannotMerge(ValueError):
    """The parts cannot be merged; the text says which one, and why."""


def in_order(parts: Sequence[tuple[str, str, T]]) -> list[tuple[str, T]]:
    """The parts in the order of their shards. Each has a name for error messages and its shard as `K/N`."""
    if len(parts) < 2:
        raise CannotMerge("found fewer than two parts; expected one of each shard")
    numbered = [(*_numbers(name, shard), name, part) for name, shard, part in parts]
    totals = sorted({of for _, of, _, _ in numbered})
    if len(totals) > 1:
        raise CannotMerge(f"divided into {' and '.join(map(str, totals))} shards: expected one number")
    (total,) = totals
    there = Counter(number for number, _, _, _ in numbered)
    if twice := [number for number, count in there.items() if count > 1]:
        raise CannotMerge(f"shard {min(twice)}/{total} was given twice")
    if missing := [number for number in range(1, total + 1) if number not in there]:
        raise CannotMerge(f"shard {missing[0]}/{total} is missing")
    return [(name, part) for _, _, name, part in sorted(numbered, key=lambda each: each[0])]


def _numbers(name: str, shard: str) -> tuple[int, int]:
    found = _SHARD.fullmatch(shard)
    if found is None:
        raise CannotMerge(f"{name}: is whole, not one of several shards")
    return int(found[1]), int(found[2])
