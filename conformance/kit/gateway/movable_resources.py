"""Resources whose token endpoint has its own address, where checks cause faults: see docs/adr/0021."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from gateproof.conformance.suite.parties import Project

# Of each kind. Each rests while the others are used: a gateway's circuit breaker may be open for its address.
PLACES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class MovableResource:
    """A Project with such a Resource, and the merchant's listener that serves it."""

    project: Project
    listener_id: str
    # The port of the token endpoint, if a proxy in front of the listener has to be there.
    port: int = 0


@dataclass(kw_only=True, slots=True)
class MovableResources:
    """Makes Resources of each kind when they are first needed, and provides them again for later checks."""

    # Closes the listeners, and gives the ports free.
    closing: ExitStack = field(default_factory=ExitStack)
    _made: dict[str, deque[MovableResource]] = field(default_factory=dict)

    def next(self, kind: str, make: Callable[[], MovableResource]) -> MovableResource:
        """Of the Resources of this kind, the one that was used longest ago."""
        turns = self._made.setdefault(kind, deque())
        if len(turns) < PLACES:
            turns.append(make())
        else:
            turns.rotate(-1)
        return turns[-1]
