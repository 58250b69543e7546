"""Hands the checks of a service to workers, each with a service of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from xdist.workermanage import WorkerController

from gateproof.conformance.run.handing_out import HandingOut
from gateproof.conformance.suite.turn import Turn


class ServiceScheduling(HandingOut):
    """Gives a worker no check that has to wait behind another one that waits.

    It begins as soon as one worker is ready; the others may still be starting their services. Checks that run
    in a row go to one worker, and the first calls to one that has got no other check. `turn_of` takes the ID
    of a collected item.
    """

    def __init__(self, config: pytest.Config, *, turn_of: Callable[[str], Turn]) -> None:
        super().__init__(config)
        self._turn_of = turn_of
        self._begun: set[WorkerController] = set()

    @property
    def collection_is_completed(self) -> bool:
        """True as soon as one worker is ready; all collect the same checks."""
        return bool(self.node2collection)

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Also notes what a worker has collected that became ready after the first one."""
        if self.collection is not None and list(collection) != self.collection:
            raise ValueError("two workers have collected different checks")
        super().add_node_collection(node, collection)

    def remove_node(self, node: WorkerController) -> str | None:
        """Takes the worker out; one in its place has a service that nobody has called."""
        self._begun.discard(node)
        left: str | None = super().remove_node(node)
        return left

    def _give(self, node: WorkerController, given: Sequence[int]) -> None:
        super()._give(node, given)
        self._begun.add(node)

    def _next_for(self, node: WorkerController) -> Sequence[int]:
        too_late = node in self._begun and len(self._begun) < self.numnodes
        possible = [
            place for place in self.pending if not (too_late and self._turn(place) is Turn.FIRST_CALLS)
        ]
        if not possible:
            return ()
        waits = any(self._turn(place).waits for place in self.node2pending[node])
        suitable = (place for place in possible if not (waits and self._turn(place).waits))
        found = next(suitable, possible[0])
        turn = self._turn(found)
        return [place for place in self.pending if self._turn(place) is turn] if turn.in_a_row else [found]

    def _turn(self, place: int) -> Turn:
        return self._turn_of((self.collection or [])[place])
