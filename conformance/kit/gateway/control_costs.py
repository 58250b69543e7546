"""How often a run used each control action of its target, and how long the actions took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock


@dataclass(slots=True)
class ControlCosts:
    """For each action the number of calls and their seconds together; checks call from several threads."""

    _calls: dict[str, int] = field(default_factory=dict)
    _seconds: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def note(self, action: str, seconds: float) -> None:
        """Counts one call."""
        with self._lock:
            self._calls[action] = self._calls.get(action, 0) + 1
            self._seconds[action] = self._seconds.get(action, 0.0) + seconds

    def to_json(self) -> dict[str, tuple[int, float]]:
        return {action: (calls, self._seconds[action]) for action, calls in self._calls.items()}


def summed(*costs: Mapping[str, tuple[int, float]]) -> dict[str, tuple[int, float]]:
    """The costs of several processes together."""
    found: dict[str, tuple[int, float]] = {}
    for each in costs:
        for action, (calls, seconds) in each.items():
            before = found.get(action, (0, 0.0))
            found[action] = (before[0] + calls, before[1] + seconds)
    return found
