"""How many take part in a race, how often it is run, and what runs it again.

A round counts when its requests overlapped: the target may have answered one after the other all the same,
which nobody sees from outside. So each check runs as many rounds as make a miss rarer than one in ten
thousand, by the rate at which one round catches the shipped defects (`benchmarks/races.py` measures it).
"""

from __future__ import annotations

import contextlib
import contextvars
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import inf
from typing import Any, Generic, TypeVar

from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.claims import NoOverlap, expect, overlapped, overlaps, repeat_with, require
from gateproof.conformance.wire.exchange import Exchange

Result = TypeVar("Result")

FEWEST_RACERS, MOST_RACERS, EXAMPLES_A_RACER = 8, 32, 5
FEWEST_ROUNDS, MOST_ROUNDS, EXAMPLES_A_ROUND = 2, 20, 7
# How many rounds the usual budget of examples makes: what the number of a check's rounds is stated for.
USUAL_ROUNDS = 3
# So many rounds of one check may not count, and take so long, all together.
MOST_LOST, LOST_S = 20, 60.0
# Beyond this budget of examples, races grow no more.
LARGEST_BUDGET = MOST_ROUNDS * EXAMPLES_A_ROUND
# Enough to be more than one at a time, and no crowd.
FEW = 4
# Come again later, or sooner: neither is said of what was asked.
_LATER = frozenset({408, 429})
# How many ask at once while something changes, how often each does so afterwards, and for how long at most.
ASKERS, _AFTERWARDS, _LONGEST_S = 6, 2, 60.0
# How often is looked whether it is time for the change.
_GLANCE_S = 0.0005
# Whoever cannot start within this long starts alone.
_START_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Races:
    """The races of one check, the same for the same seed; they begin with round number `first`.

    `rounds` stands for the budget of examples, and `wanted` is how many have to count.
    """

    check: str
    seed: int
    racers: int
    rounds: int
    wanted: int
    campaign: Campaign | None = None
    first: int = 0

    def each(self, *, at_most: int | None = None) -> Iterator[random.Random]:
        """One source of choices a round, until enough rounds have counted; raises NoOverlap if they do not.

        `at_most` is for where a round takes too long to be repeated. What is said of a failure in a round
        repeats the whole check. A campaign goes on for as long as it has time.
        """
        wanted = self.wanted if at_most is None else min(self.wanted, at_most)
        score, begin = _Score(), self.first
        for number in self.campaign.turns() if self.campaign is not None else ():
            begin = number + 1
            yield from self._round(number, number, score)
        for number in count(begin):
            if score.counted >= wanted or score.is_lost():
                break
            yield from self._round(number, self.first if self.campaign is None else number, score)
        if score.counted < wanted:
            raise NoOverlap(
                f"{score.counted} of {wanted} rounds had their requests under way before the first answer; "
                f"{score.lost} had not"
            )

    def _round(self, number: int, first: int, score: _Score) -> Iterator[random.Random]:
        """One round, and whether it counts."""
        repeat_with(
            {
                "kind": "race",
                "check": self.check,
                "seed": self.seed,
                "racers": self.racers,
                "rounds": self.rounds,
                "first": first,
            }
        )
        begun, before = time.monotonic(), len(overlaps())
        yield random.Random(f"{self.seed}/{self.check}/{number}")  # noqa: S311 - a choice, not a secret
        noted = overlaps()[before:]
        if not noted:
            raise AssertionError("a round in which nobody noted whether requests overlapped")
        if all(noted):
            score.counted += 1
        else:
            score.lost += 1
            score.lost_s += time.monotonic() - begun


@dataclass(slots=True)
class _Score:
    """How many rounds have counted, and what those took that did not."""

    counted: int = 0
    lost: int = 0
    lost_s: float = 0.0

    def is_lost(self) -> bool:
        return self.lost >= MOST_LOST or self.lost_s > LOST_S


def racers_for(examples: int) -> int:
    """How many take part in each race, for this budget of examples."""
    return max(FEWEST_RACERS, min(MOST_RACERS, FEWEST_RACERS + examples // EXAMPLES_A_RACER))


def rounds_for(examples: int) -> int:
    """How often each race is run, for this budget of examples."""
    return max(FEWEST_ROUNDS, min(MOST_ROUNDS, round(examples / EXAMPLES_A_ROUND)))


def wanted_for(rounds: int, examples: int) -> int:
    """How many rounds have to count in a check that states so many, for this budget of examples."""
    return max(1, round(rounds * rounds_for(examples) / USUAL_ROUNDS))


def examples_for(racers: int, rounds: int) -> int | None:
    """A budget of examples that makes races of this size; None when no budget does."""
    budgets = range(LARGEST_BUDGET + 1)
    return next((each for each in budgets if (racers_for(each), rounds_for(each)) == (racers, rounds)), None)


def arrived(answers: Sequence[Exchange]) -> Sequence[Exchange]:
    """The answers of a race in which all but one racer, or all of them, came through."""
    came = sum(answer.answer is not None for answer in answers)
    require.that(
        came >= len(answers) - 1,
        f"race of {len(answers)}, {answers[0].step}",
        expected=f"at least {len(answers) - 1} answers",
        got=f"{came}; " + "; ".join({answer.failure for answer in answers if answer.failure}),
    )
    return answers


def nobody_is_turned_down(answers: Sequence[Exchange], what: str) -> None:
    """What each would have got alone, nobody is refused for having come together.

    A server may be at its limits, and says so with 429 or a 5xx; at least one was served.
    """
    for answer in answers:
        refused = answer.status in range(400, 500) and answer.status not in _LATER
        expect.that(not refused, what, expected="no refusal", got=answer.outcome(), exchange=answer)
    require.that(
        any(answer.status == 200 for answer in answers),
        what,
        expected="status 200 for one of them at least",
        got=", ".join(sorted({answer.outcome() for answer in answers})),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class History(Generic[Result]):
    """What came of what began before a change was acknowledged, and of what began after."""

    before: tuple[Result, ...]
    after: tuple[Result, ...]


def amid(
    asks: Sequence[Callable[[], Result]], change: Callable[[], object], choice: random.Random
) -> History[Result]:
    """All of them ask all the time, and in the midst of it something changes.

    When it does is drawn as a number of answers, because a moment on the clock would be too early for a slow
    target and too late for a quick one. It is noted whether one of them was under way while it changed.
    """
    asked: list[tuple[float, float, Result]] = []
    change_begun_at, changed_at = [inf], [inf]
    deadline = time.monotonic() + _LONGEST_S
    change_at = choice.randrange(len(asks), 4 * len(asks))

    def asker(ask: Callable[[], Result]) -> None:
        late = 0
        while time.monotonic() < deadline:
            begun = time.monotonic()
            result = ask()
            asked.append((begun, time.monotonic(), result))
            late += begun > changed_at[0]
            if late >= _AFTERWARDS:
                return

    def changer() -> None:
        begin_by = time.monotonic() + _START_S
        while len(asked) < change_at and time.monotonic() < begin_by:
            time.sleep(_GLANCE_S)
        change_begun_at[0] = time.monotonic()
        try:
            change()
        finally:
            changed_at[0] = time.monotonic()

    acts: list[Callable[[], None]] = [changer, *(partial(asker, ask) for ask in asks)]
    _carried_out(acts)
    beside = sum(begun < changed_at[0] and ended > change_begun_at[0] for begun, ended, _ in asked)
    overlapped(beside > 0)
    return History(
        before=tuple(result for begun, _, result in asked if begun <= changed_at[0]),
        after=tuple(result for begun, _, result in asked if begun > changed_at[0]),
    )


def together(acts: Sequence[Callable[[], Result]]) -> list[Result]:
    """Carries out all acts at once, and notes whether each began before the first had ended."""
    times: list[tuple[float, float]] = []

    def timed(act: Callable[[], Result]) -> Result:
        begun = time.monotonic()
        result = act()
        times.append((begun, time.monotonic()))
        return result

    results = _carried_out([partial(timed, act) for act in acts])
    overlapped(max(begun for begun, _ in times) < min(ended for _, ended in times))
    return results


def _carried_out(acts: Sequence[Callable[[], Result]]) -> list[Result]:
    """Carries out each act in a thread of its own; the first that raises is heard of."""
    start = threading.Barrier(len(acts))

    def begin(context: contextvars.Context, act: Callable[[], Result]) -> Result:
        with contextlib.suppress(threading.BrokenBarrierError):
            start.wait(_START_S)
        return context.run(act)

    with ThreadPoolExecutor(len(acts)) as runners:
        # A context can be entered by one thread at a time; what is counted in it is shared all the same.
        running: list[Any] = [runners.submit(begin, contextvars.copy_context(), act) for act in acts]
    return [each.result() for each in running]
