"""The order of the checks: long waits pass while other workers are busy, and none is left for the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.needs import touches_whole_target

ItemT = TypeVar("ItemT")


def waits_spread(items: Sequence[ItemT], check_of: Callable[[ItemT], Check]) -> list[ItemT]:
    """Checks that touch the whole target come last, the longest wait first.

    Some workers begin with those. So the longest waits of the other checks are in the middle of them: if all
    workers waited at the start, the processors would have nothing to do.
    """
    others = [item for item in items if not touches_whole_target(check_of(item))]
    whole = [item for item in items if touches_whole_target(check_of(item))]

    def longest_first(found: Iterable[ItemT]) -> list[ItemT]:
        return sorted(found, key=lambda item: -check_of(item).waits_s)

    brief = [item for item in others if not check_of(item).waits_s]
    middle = len(brief) // 2
    waiting = longest_first(item for item in others if check_of(item).waits_s)
    return [*brief[:middle], *waiting, *brief[middle:], *longest_first(whole)]
