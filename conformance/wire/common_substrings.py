"""What several values of one maker have in common is no secret of any of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from gateproof.conformance.wire.leaks import RUN, STRIDE, WINDOW, Canary


def apart(canaries: Sequence[Canary], others: Iterable[str]) -> list[Canary]:
    """The canaries without what other values have as well.

    That is a beginning of any length, such as a maker's prefix, and inside any run that would make a leak:
    one serializer writes what it says of a Project in the same characters into tokens of every kind.
    """
    others = set(others)
    values = sorted({each.value for each in canaries} | others)
    begun: dict[str, int] = {}
    for one, two in pairwise(values):
        same = _same_beginning(one, two)
        for value in (one, two):
            begun[value] = max(begun.get(value, 0), same)
    canaries = [_without_beginning(each, begun.get(each.value, 0)) for each in canaries]
    shared = _shared(canaries, others)
    return [_without_runs(each, shared, values) for each in canaries] if shared else canaries


def _same_beginning(one: str, two: str) -> int:
    for place, (left, right) in enumerate(zip(one, two, strict=False)):
        if left != right:
            return place
    return min(len(one), len(two))


def _without_beginning(each: Canary, shared: int) -> Canary:
    """A value that another one has in it from its first character to its last keeps all of itself."""
    if shared in (0, len(each.value)) or not each.parts or not each.value.startswith(each.parts[0]):
        return each
    rest = each.parts[0][shared:]
    parts = (rest, *each.parts[1:]) if len(rest) >= RUN else each.parts[1:]
    return replace(each, parts=parts)


def _shared(canaries: Iterable[Canary], others: Iterable[str]) -> set[str]:
    """Every run of a canary's that stands in another value as well."""
    owners: dict[str, str] = {}
    shared, windows = set[str](), set[str]()
    for each in canaries:
        for part in each.parts:
            windows.update(_pieces(part, WINDOW))
            for run in _pieces(part, RUN):
                if owners.setdefault(run, each.value) != each.value:
                    shared.add(run)
    for other in others:
        # Nearly every value has nothing in common with any, which takes a tenth of the time to see.
        if not windows.isdisjoint(_pieces(other, WINDOW, STRIDE)):
            shared.update(run for run in _pieces(other, RUN) if owners.get(run, other) != other)
    return shared


def _pieces(text: str, length: int, stride: int = 1) -> Iterable[str]:
    return (text[place : place + length] for place in range(0, len(text) - length + 1, stride))


def _without_runs(each: Canary, shared: Collection[str], values: Iterable[str]) -> Canary:
    """A part that another value has in it whole stays: that value gives it away."""
    parts: list[str] = []
    for part in each.parts:
        left = _left(part, shared)
        given_away = left != [part] and any(part in value for value in values if value != each.value)
        parts += [part] if given_away else left
    return replace(each, parts=tuple(parts))


def _left(part: str, shared: Collection[str]) -> list[str]:
    """The stretches between shared runs that are long enough to be found."""
    stretches, begun, place = [], 0, 0
    while place <= len(part) - RUN:
        if part[place : place + RUN] not in shared:
            place += 1
            continue
        stretches.append(part[begun:place])
        begun = place + RUN
        while begun < len(part) and part[begun - RUN + 1 : begun + 1] in shared:
            begun += 1
        place = begun
    stretches.append(part[begun:])
    return [stretch for stretch in stretches if len(stretch) >= RUN]
