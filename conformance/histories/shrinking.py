"""A history that surprises is cut down to the shortest that still does.

The steps know what they stand on, so whatever is taken out leaves a history that can be played: a library
that shrinks without that knowledge tries ten times as many, and each costs a dozen requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from conformance.histories.playing import Surprise
from conformance.histories.steps import Authorize, History, Merchant, references, without

# So many steps may be played in search of a shorter history.
MOST_STEPS = 900
_CLOSE = 14


def shortest(found: Surprise, play: Callable[[History], Surprise | None]) -> Surprise:
    """The shortest history at hand with a surprise of the same kind."""
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
            surprise = play(candidate)
            if surprise is not None and surprise.is_like(found):
                best, smaller = surprise, True
                break
    return best


def _smaller(history: History) -> Iterator[History]:
    """Shorter histories first, the shortest of them at the front; then the same with simpler steps."""
    last = len(history) - 1
    singles = {without(history, place) for place in range(last)}
    yield from sorted((each for each in singles if _ends_alike(each, history)), key=_order)
    if len(history) <= _CLOSE:
        pairs = {without(history, *pair) for pair in combinations(range(last), 2)}
        yield from sorted((each for each in pairs - singles if _ends_alike(each, history)), key=_order)
    yield from _simpler(history)


def _order(history: History) -> tuple[int, str]:
    return len(history), repr(history)


def _ends_alike(shorter: History, history: History) -> bool:
    return bool(shorter) and type(shorter[-1]) is type(history[-1])


def _simpler(history: History) -> Iterator[History]:
    """The same steps about earlier things, or the first user: what then stands alone can go."""
    for place, step in enumerate(history):
        for kind, which in references(step):
            for lower in range(which):
                yield _with(history, place, **{kind: lower})
        if isinstance(step, Authorize | Merchant) and step.user:
            yield _with(history, place, user=0)


def _with(history: History, place: int, **changes: Any) -> History:
    return (*history[:place], replace(history[place], **changes), *history[place + 1 :])
