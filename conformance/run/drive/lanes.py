"""Hands checks to the workers of a run in which each worker has its own gateway.

Some workers begin with the checks that touch their whole target: most of these wait. The others begin with
the rest, which keep the processors busy, and help with the former afterwards. No worker goes back, because a
clock that was moved stays moved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import pytest
from xdist.workermanage import WorkerController

from gateproof.conformance.run.handing_out import AT_HAND, HandingOut

# Many checks take a few milliseconds. With some in stock, a worker does not wait for the next message.
_AHEAD_OF_SHORT_ONES = 8
# How much longer a check that touches the whole target takes than another one, on average.
_TIMES_AS_LONG = 5


class Lanes(HandingOut):
    """Two queues: checks in general, then checks that touch the whole target, as the collection has them."""

    def __init__(
        self,
        config: pytest.Config,
        *,
        touches_whole_target: Callable[[str], bool],
        place_of: Callable[[WorkerController], int],
    ) -> None:
        super().__init__(config)
        self._touches_whole_target = touches_whole_target
        self._place_of = place_of
        self._first_of_whole_target = 0
        self._moved_on: set[int] = set()

    def _begin(self, collected: Sequence[str]) -> None:
        others = sum(not self._touches_whole_target(item) for item in collected)
        work = _TIMES_AS_LONG * (len(collected) - others)
        share = round(len(self.nodes) * work / max(1, work + others))
        self._first_of_whole_target = others
        begin_with_those = min(share, len(self.nodes) - 1) if others else share
        self._moved_on = set(range(begin_with_those))

    def _give(self, node: WorkerController, given: Sequence[int]) -> None:
        super()._give(node, given)
        if max(given) >= self._first_of_whole_target:
            self._moved_on.add(self._place_of(node))

    def _stock_of(self, node: WorkerController) -> int:
        following = self._next_for(node)
        is_short = bool(following) and following[0] < self._first_of_whole_target
        return _AHEAD_OF_SHORT_ONES if is_short else AT_HAND

    def _next_for(self, node: WorkerController) -> Sequence[int]:
        middle = bisect_left(self.pending, self._first_of_whole_target)
        # What a worker left that died is for one whose target is untouched, if there is any.
        others_can = len(self._moved_on) < self.numnodes
        if not middle or (self._place_of(node) in self._moved_on and others_can):
            return self.pending[middle : middle + 1]
        return self.pending[:1]
