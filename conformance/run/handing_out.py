"""Hands out checks a few at a time: the base of the schedulers of runs in which each worker has a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdist.scheduler.load import LoadScheduling
from xdist.workermanage import WorkerController

# A worker starts a check only when it knows the next one, or that there is none.
AT_HAND = 2


class HandingOut(LoadScheduling, ABC):
    """Fills up the stock of a worker whenever it has finished a check. `pending` is kept in order."""

    collection: list[str] | None
    pending: list[int]

    def schedule(self) -> None:
        """Gives each worker its first checks; also called for a worker in place of one that died."""
        if self.collection is None:
            if not self._check_nodes_have_same_collection():
                return
            collected = next(iter(self.node2collection.values()))
            self.collection = collected
            self.pending[:] = range(len(collected))
            self._begin(collected)
        # In turns: with few checks, each worker gets one before any gets two.
        ready = [node for node in self.nodes if node in self.node2collection]
        for stock in range(1, AT_HAND + 1):
            for node in ready:
                self._fill_up(node, stock)
        for node in ready:
            self.check_schedule(node)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:  # noqa: ARG002 - of xdist
        """Fills up the stock of a worker that is ready, or tells the worker that nothing more comes."""
        if node not in self.node2collection:
            return
        self._fill_up(node, self._stock_of(node))
        if not node.shutting_down and not self._next_for(node):
            node.shutdown()

    def _fill_up(self, node: WorkerController, stock: int) -> None:
        # The checks of a worker that died were put at an end.
        self.pending.sort()
        while not node.shutting_down and len(self.node2pending[node]) < stock:
            given = self._next_for(node)
            if not given:
                return
            self._give(node, given)

    def _give(self, node: WorkerController, given: Sequence[int]) -> None:
        for place in given:
            self.pending.remove(place)
        self.node2pending[node].extend(given)
        node.send_runtest_some(list(given))

    def _begin(self, collected: Sequence[str]) -> None:
        """Reads what the scheduler has to know of the collected checks."""

    def _stock_of(self, node: WorkerController) -> int:  # noqa: ARG002 - for subclasses
        """How many checks the worker should have, with the one that it carries out."""
        return AT_HAND

    @abstractmethod
    def _next_for(self, node: WorkerController) -> Sequence[int]:
        """The places of the next checks for this worker, which go to it together; empty if there are none."""
