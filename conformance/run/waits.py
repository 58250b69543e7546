"""What a check waited for: answers of the target, what it paused for, or something else."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.suite.pauses import Cause

# Shorter waits are left out of the record.
_WORTH_TELLING_S = 0.05
TARGET, OTHER = "target", "other"


class AnswerTime:
    """The time in which at least one request was waiting for its answer."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []

    def reset(self) -> None:
        self._spans.clear()

    def add(self, begun: float, ended: float) -> None:
        self._spans.append((begun, ended))

    def total_s(self) -> float:
        """The length of all spans together; where several overlap, the time counts once."""
        total = 0.0
        until = float("-inf")
        for begun, ended in sorted(self._spans):
            total += max(0.0, ended - max(begun, until))
            until = max(until, ended)
        return total


def waits(
    *, took_s: float, computed_s: float, answers_s: float, paused_s: Mapping[Cause, float]
) -> Mapping[str, float]:
    """The waits of a check: for answers, in pauses, and the rest of the time in which it did not compute."""
    paused = sum(paused_s.values())
    answers = min(took_s - paused, answers_s)
    named = {cause.value: seconds for cause, seconds in paused_s.items()}
    found = {TARGET: answers, **named, OTHER: took_s - answers - paused - computed_s}
    return {name: round(wait, 3) for name, wait in found.items() if wait >= _WORTH_TELLING_S}
