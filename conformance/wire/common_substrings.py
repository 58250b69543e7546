"""Removes parts that several values share: they are not secret."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from gateproof.conformance.wire.leaks import RUN, STRIDE, WINDOW, Canary


def without_shared_parts(canaries: Sequence[Canary], others: Iterable[str]) -> list[Canary]:
    """The canaries without parts that other values share.

    That is a common beginning of any length, such as a prefix, and inner runs that are long enough for a
    leak: a serializer may write the same text about a Project into tokens of every kind.
    """
    if not canaries:
        return []
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
    """How many characters are the same; by halves, because JWTs begin with hundreds that are."""
    same, most = 0, min(len(one), len(two))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == two[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def _without_beginning(each: Canary, shared: int) -> Canary:
    """A value that is wholly contained in another one keeps all its parts."""
    if shared in (0, len(each.value)) or not each.parts or not each.value.startswith(each.parts[0]):
        return each
    rest = each.parts[0][shared:]
    parts = (rest, *each.parts[1:]) if len(rest) >= RUN else each.parts[1:]
    return replace(each, parts=parts)


def _shared(canaries: Iterable[Canary], others: Iterable[str]) -> set[str]:
    """Every run of a canary that another value contains as well."""
    owners: dict[str, str] = {}
    shared, windows = set[str](), set[str]()
    for each in canaries:
        for part in each.parts:
            windows.update(_pieces(part, WINDOW))
            for run in _pieces(part, RUN):
                if owners.setdefault(run, each.value) != each.value:
                    shared.add(run)
    for other in others:
        # Most values share nothing; this test finds that in a tenth of the time.
        if not windows.isdisjoint(_pieces(other, WINDOW, STRIDE)):
            shared.update(run for run in _pieces(other, RUN) if owners.get(run, other) != other)
    return shared


def _pieces(text: str, length: int, stride: int = 1) -> list[str]:
    return [text[place : place + length] for place in range(0, len(text) - length + 1, stride)]


def _without_runs(each: Canary, shared: Collection[str], values: Iterable[str]) -> Canary:
    """A part stays if another value contains it as a whole: that value would leak it."""
    parts: list[str] = []
    for part in each.parts:
        left = _left(part, shared)
        contained = left != [part] and any(part in value for value in values if value != each.value)
        parts += [part] if contained else left
    return replace(each, parts=tuple(parts))


def _left(part: str, shared: Collection[str]) -> list[str]:
    """The pieces between shared runs that are long enough to search for."""
    pieces, begun, place = [], 0, 0
    while place <= len(part) - RUN:
        if part[place : place + RUN] not in shared:
            place += 1
            continue
        pieces.append(part[begun:place])
        begun = place + RUN
        while begun < len(part) and part[begun - RUN + 1 : begun + 1] in shared:
            begun += 1
        place = begun
    pieces.append(part[begun:])
    return [piece for piece in pieces if len(piece) >= RUN]
