"""The order of the checks of a service for workers: what one check waits for passes while others run.

Many services fetch a key set every half a minute at most, so each check that adds a key may have to wait for
so long. And the end of a Proxy token can only be waited for. One process chooses while it runs (`choosing`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.turn import Turn

T = TypeVar("T")


def in_order(items: Sequence[T], check_of: Callable[[T], Check]) -> list[T]:
    """The same items. The longest wait comes first, then first calls; the others lie in the first half.

    So no worker still waits when all others have ended.
    """
    turns: dict[Turn, list[T]] = {turn: [] for turn in Turn}
    for item in items:
        turns[check_of(item).turn].append(item)
    waiting, others = _first_cases_first(turns[Turn.NEW_KEY], check_of), turns[Turn.ANY]
    half = len(others) // 2
    return [
        *turns[Turn.END_OF_A_PROXY_TOKEN],
        *turns[Turn.FIRST_CALLS],
        *_spread(waiting, others[:half]),
        *others[half:],
    ]


def _first_cases_first(items: Sequence[T], check_of: Callable[[T], Check]) -> list[T]:
    """The first case of each check, then the second ones: what one shows may spare a later one its wait."""
    seen, numbers = Counter[str](), []
    for item in items:
        numbers.append(seen[check_of(item).name])
        seen[check_of(item).name] += 1
    return [item for _, item in sorted(zip(numbers, items, strict=True), key=lambda pair: pair[0])]


def _spread(waiting: Sequence[T], others: Sequence[T]) -> Iterator[T]:
    """The waiting items at equal distances among the others, the last one at the end."""
    parts = max(1, len(waiting))
    for number in range(parts):
        yield from others[number * len(others) // parts : (number + 1) * len(others) // parts]
        yield from waiting[number : number + 1]
