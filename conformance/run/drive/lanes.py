"""Hands checks to the workers of a run in which each worker has its own target.

Some workers begin with the checks that touch their whole target: most of these wait. The others begin with
the rest, which keep the processors busy, and help with the former afterwards. No worker goes back, because a
clock that was moved stays moved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import pytest
from xdist.scheduler.load import LoadScheduling
from xdist.workermanage import WorkerController

# A worker starts a check only when it knows the next one, or that there is none.
_AHEAD = 2
# Many checks take a few milliseconds. With some in stock, a worker does not wait for the next message.
_AHEAD_OF_SHORT_ONES = 8
# How much longer a check that touches the whole target takes than another one, on average.
_TIMES_AS_LONG = 5


class Lanes(LoadScheduling):
    """Two queues: checks in general, then checks that touch the whole target, as the collection has them."""

    collection: list[str] | None
    pending: list[int]

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
        self._begin_with_those = 0

    def schedule(self) -> None:
        """Gives each worker its first checks; later ones follow when it has finished some."""
        if self.collection is None and self._check_nodes_have_same_collection():
            collected = next(iter(self.node2collection.values()))
            others = sum(not self._touches_whole_target(item) for item in collected)
            work = _TIMES_AS_LONG * (len(collected) - others)
            self.collection = collected
            self.pending[:] = range(len(collected))
            self._first_of_whole_target = others
            share = round(len(self.nodes) * work / max(1, work + others))
            self._begin_with_those = min(share, len(self.nodes) - 1) if others else share
            # In turns, so that each worker gets some of a few checks.
            for stock in range(1, _AHEAD + 1):
                for node in self.nodes:
                    self._fill_up(node, stock)
        if self.collection is not None:
            for node in self.nodes:
                self.check_schedule(node)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:  # noqa: ARG002 - of xdist
        """Fills up the stock of a worker, or tells the worker that nothing more comes."""
        if node.shutting_down:
            return
        first, end = self._queue_of(node)
        is_short = first < end and self.pending[first] < self._first_of_whole_target
        self._fill_up(node, _AHEAD_OF_SHORT_ONES if is_short else _AHEAD)
        first, end = self._queue_of(node)
        if first == end:
            node.shutdown()

    def _fill_up(self, node: WorkerController, stock: int) -> None:
        first, end = self._queue_of(node)
        given = self.pending[first : min(end, first + max(0, stock - len(self.node2pending[node])))]
        if given:
            del self.pending[first : first + len(given)]
            self.node2pending[node].extend(given)
            node.send_runtest_some(given)

    def _queue_of(self, node: WorkerController) -> tuple[int, int]:
        """Where in `pending` the checks are that this worker may get next."""
        # The checks of a worker that died were put at an end.
        self.pending.sort()
        middle = bisect_left(self.pending, self._first_of_whole_target)
        if self._place_of(node) < self._begin_with_those or not middle:
            return middle, len(self.pending)
        return 0, middle
