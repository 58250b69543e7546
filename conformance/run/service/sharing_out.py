"""Shares the checks of a service out to workers, each with a service of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdist.scheduler.load import LoadScheduling
from xdist.workermanage import WorkerController

from gateproof.conformance.suite.turn import Turn

# pytest begins a check only when it knows the next one.
_AT_HAND = 2


class ServiceScheduling(LoadScheduling):
    """Gives a worker one check at a time, and none that has to wait behind another one that waits.

    Checks that run in a row go to one worker. `turn_of` takes the ID of a collected item.
    """

    collection: list[str] | None
    pending: list[int]

    def __init__(self, config: pytest.Config, *, turn_of: Callable[[str], Turn]) -> None:
        super().__init__(config)
        self._turn_of = turn_of

    def schedule(self) -> None:
        if self.collection is None:
            if not self._check_nodes_have_same_collection():
                return
            self.collection = next(iter(self.node2collection.values()))
            self.pending[:] = range(len(self.collection))
        # With few checks, each worker gets one before any gets two.
        for room in range(1, _AT_HAND + 1):
            for node in self.nodes:
                self._fill(node, room)
        for node in self.nodes:
            self.check_schedule(node)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:  # noqa: ARG002 - of xdist
        if not node.shutting_down:
            self._fill(node, _AT_HAND)
            if not self.pending:
                node.shutdown()

    def _fill(self, node: WorkerController, room: int) -> None:
        while self.pending and len(self.node2pending[node]) < room:
            given = self._next_for(node)
            for place in given:
                self.pending.remove(place)
            self.node2pending[node].extend(given)
            node.send_runtest_some(given)

    def _next_for(self, node: WorkerController) -> list[int]:
        """The next check for this node, with those that run in a row with it."""
        waits = any(self._turn(place).waits for place in self.node2pending[node])
        suitable = (place for place in self.pending if not (waits and self._turn(place).waits))
        found = next(suitable, self.pending[0])
        turn = self._turn(found)
        return [place for place in self.pending if self._turn(place) is turn] if turn.in_a_row else [found]

    def _turn(self, place: int) -> Turn:
        return self._turn_of((self.collection or [])[place])
