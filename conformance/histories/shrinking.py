"""Shrinks a failing history to a shorter one with the same kind of failure.

Each step lists the steps that it depends on, so every candidate can be played. A generic shrinking library
would try ten times as many, and each one costs a dozen requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeGuard

from gateproof.conformance.histories.step_loop import Violation
from gateproof.conformance.histories.steps import (
    Approve,
    Authorize,
    History,
    Merchant,
    NewProject,
    Step,
    references,
    without,
)

# Limit of steps played during the search.
MOST_STEPS = 1500
_CLOSE = 16


def shortest(found: Violation, play: Callable[[History], Violation | None]) -> Violation:
    """The shortest history found with the same kind of failure."""
    best, left = found, MOST_STEPS
    tried: set[History] = {found.history}
    smaller = True
    while smaller and left > 0:
        smaller = False
        for candidate in _smaller(best.history):
            if candidate in tried or len(candidate) > left:
                continue
            tried.add(candidate)
            left -= len(candidate)
            violation = play(candidate)
            if violation is not None and violation.is_like(found):
                best, smaller = violation, True
                break
    return best


def _smaller(history: History) -> Iterator[History]:
    """Candidates: without one step, with fewer objects, then without two steps; the shortest first."""
    last = len(history) - 1
    singles = {without(history, place) for place in range(last)}
    yield from _in_order(singles, history)
    yield from _with_fewer_objects(history)
    if len(history) <= _CLOSE:
        pairs = {without(history, *pair) for pair in combinations(range(last), 2)}
        yield from _in_order(pairs - singles, history)


def _in_order(histories: Iterable[History], history: History) -> list[History]:
    alike = [each for each in histories if each and type(each[-1]) is type(history[-1])]
    return sorted(alike, key=lambda each: (len(each), repr(each)))


def _with_fewer_objects(history: History) -> Iterator[History]:
    """The same steps with one object replaced by another, everywhere or in one step."""
    if any(isinstance(step, NewProject) and step.policy == "hold" for step in history):
        yield without(
            [NewProject() if isinstance(step, NewProject) else step for step in history],
            *(place for place, step in enumerate(history) if isinstance(step, Approve)),
        )
    for kind, which in sorted({found for step in history for found in references(step)}):
        for lower in range(which):
            yield tuple(_put(step, kind, which, lower) for step in history)
    yield tuple(replace(step, user=0) if _has_user(step) else step for step in history)
    for place, step in enumerate(history):
        for kind, which in references(step):
            for lower in range(which):
                yield (*history[:place], _put(step, kind, which, lower), *history[place + 1 :])


def _put(step: Step, kind: str, which: int, other: int) -> Step:
    changes: dict[str, Any] = {kind: other}
    return replace(step, **changes) if (kind, which) in references(step) else step


def _has_user(step: Step) -> TypeGuard[Authorize | Merchant]:
    return isinstance(step, Authorize | Merchant)
