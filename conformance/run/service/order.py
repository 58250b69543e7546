"""The order of the checks of a service: what one check has to wait for passes while others run.

Many services fetch a key set every half a minute at most, so each check that adds a key may have to wait for
so long. And the end of a Proxy token can only be waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.turn import Turn

T = TypeVar("T")

# The checks of these families leave the Proxy token as it is, and one wait of half a minute is less than its
# lifetime: they run while the first one grows old.
_LEAVE_THE_PROXY_TOKEN = frozenset({"chal", "meta"})
_WAITS_MEANWHILE = 1


def in_order(items: Sequence[T], check_of: Callable[[T], Check], *, shared_out: bool) -> list[T]:
    """The same items. First calls come first; then what waits is spread among the others.

    If the items are shared out to workers, the longest wait begins at once, and the others in the first half,
    so that no worker still waits when all others have ended.
    """
    turns: dict[Turn, list[T]] = {turn: [] for turn in Turn}
    for item in items:
        turns[check_of(item).turn].append(item)
    first, ends = turns[Turn.FIRST_CALLS], turns[Turn.END_OF_A_PROXY_TOKEN]
    waiting, others = turns[Turn.NEW_KEY], turns[Turn.ANY]
    if shared_out:
        half = len(others) // 2
        return [*first, *ends, *_spread(waiting, others[:half]), *others[half:]]
    if not ends:
        return [*first, *_spread(waiting, others)]
    before = [item for item in others if check_of(item).family in _LEAVE_THE_PROXY_TOKEN]
    after = [item for item in others if check_of(item).family not in _LEAVE_THE_PROXY_TOKEN]
    early = [item for item in waiting if check_of(item).family in _LEAVE_THE_PROXY_TOKEN][:_WAITS_MEANWHILE]
    later = [item for item in waiting if all(item is not each for each in early)]
    # The wait for the end of the token is one for the next key, too.
    return [*first, *before, *early, *ends, *later[:1], *_spread(later[1:], after)]


def _spread(waiting: Sequence[T], others: Sequence[T]) -> Iterator[T]:
    """The waiting items at equal distances among the others, the last one at the end."""
    parts = max(1, len(waiting))
    for number in range(parts):
        yield from others[number * len(others) // parts : (number + 1) * len(others) // parts]
        yield from waiting[number : number + 1]
