"""Sizes of races, how often they are repeated, and what repeats a failure.

A round counts if its requests overlapped; whether the target handled them one after the other cannot be seen
from outside. So each check runs enough rounds that it misses a defect less than once in ten thousand runs, by
the rate at which one round catches the shipped defects (`benchmarks/races.py` measures it).
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
# The rounds of the usual budget of examples; a check states its number of rounds for this budget.
USUAL_ROUNDS = 3
# Limits for rounds of one check that do not count: their number and total time.
MOST_LOST, LOST_S = 20, 60.0
# Larger budgets of examples do not make larger races.
LARGEST_BUDGET = MOST_ROUNDS * EXAMPLES_A_ROUND
# A small number of concurrent requests.
FEW = 4
# Statuses about timing, not about the request itself.
_LATER = frozenset({408, 429})
# During a change: number of concurrent callers, requests of each after the change, and the time limit.
ASKERS, _AFTERWARDS, _LONGEST_S = 6, 2, 60.0
# Poll interval for the start of the change.
_POLL_S = 0.0005
# A thread that waits longer than this for the others starts alone.
_START_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Races:
    """The races of one check, the same for the same seed; the first round has number `first`.

    `rounds` follows from the budget of examples; `wanted` is how many rounds have to count.
    """

    check: str
    seed: int
    racers: int
    rounds: int
    wanted: int
    campaign: Campaign | None = None
    first: int = 0

    def each(self, *, at_most: int | None = None) -> Iterator[random.Random]:
        """Yields one random source per round until enough rounds have counted; else raises NoOverlap.

        `at_most` limits the rounds where each takes long. A replay repeats the whole check up to the failure.
        A campaign continues until its time is over.
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
        """Runs one round, and records whether it counted."""
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
            raise AssertionError("a round that did not record whether its requests overlapped")
        if all(noted):
            score.counted += 1
        else:
            score.lost += 1
            score.lost_s += time.monotonic() - begun


@dataclass(slots=True)
class _Score:
    """How many rounds have counted; number and time of those that have not."""

    counted: int = 0
    lost: int = 0
    lost_s: float = 0.0

    def is_lost(self) -> bool:
        return self.lost >= MOST_LOST or self.lost_s > LOST_S


def racers_for(examples: int) -> int:
    """The number of concurrent requests for this budget of examples."""
    return max(FEWEST_RACERS, min(MOST_RACERS, FEWEST_RACERS + examples // EXAMPLES_A_RACER))


def rounds_for(examples: int) -> int:
    """The number of rounds of each race for this budget of examples."""
    return max(FEWEST_ROUNDS, min(MOST_ROUNDS, round(examples / EXAMPLES_A_ROUND)))


def wanted_for(rounds: int, examples: int) -> int:
    """The number of rounds that have to count in a check that states `rounds`, for this budget."""
    return max(1, round(rounds * rounds_for(examples) / USUAL_ROUNDS))


def examples_for(racers: int, rounds: int) -> int | None:
    """A budget of examples that gives races of this size; None if there is none."""
    budgets = range(LARGEST_BUDGET + 1)
    return next((each for each in budgets if (racers_for(each), rounds_for(each)) == (racers, rounds)), None)


def require_answers(answers: Sequence[Exchange]) -> Sequence[Exchange]:
    """Requires an answer to all requests of a race but one at most."""
    came = sum(answer.answer is not None for answer in answers)
    require.that(
        came >= len(answers) - 1,
        f"race of {len(answers)}, {answers[0].step}",
        expected=f"at least {len(answers) - 1} answers",
        got=f"{came}; " + "; ".join({answer.failure for answer in answers if answer.failure}),
    )
    return answers


def expect_all_accepted(answers: Sequence[Exchange], what: str) -> None:
    """Expects that no request is refused only because others came at the same time.

    A server may be at its limits and answer 429 or 5xx; at least one request has to succeed.
    """
    for answer in answers:
        judged = answer.status not in _LATER and not answer.may_be_used_up
        refused = answer.status in range(400, 500) and judged
        expect.that(not refused, what, expected="no refusal", got=answer.outcome(), exchange=answer)
    require.that(
        any(answer.status == 200 for answer in answers),
        what,
        expected="status 200 for one of them at least",
        got=", ".join(sorted({answer.outcome() for answer in answers})),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class History(Generic[Result]):
    """Results of requests that began before a change was acknowledged, and of those that began after."""

    before: tuple[Result, ...]
    after: tuple[Result, ...]


def run_during(
    asks: Sequence[Callable[[], Result]], change: Callable[[], object], choice: random.Random
) -> History[Result]:
    """Repeats all requests concurrently, and makes a change meanwhile.

    The random source chooses the number of answers after which the change starts: a fixed time would be too
    early for slow targets and too late for fast ones. Records whether a request overlapped with the change.
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
            time.sleep(_POLL_S)
        change_begun_at[0] = time.monotonic()
        try:
            change()
        finally:
            changed_at[0] = time.monotonic()

    functions: list[Callable[[], None]] = [changer, *(partial(asker, ask) for ask in asks)]
    _run_all(functions)
    beside = sum(begun < changed_at[0] and ended > change_begun_at[0] for begun, ended, _ in asked)
    overlapped(beside > 0)
    return History(
        before=tuple(result for begun, _, result in asked if begun <= changed_at[0]),
        after=tuple(result for begun, _, result in asked if begun > changed_at[0]),
    )


def together(functions: Sequence[Callable[[], Result]]) -> list[Result]:
    """Runs all functions concurrently, and records whether each began before the first had ended."""
    times: list[tuple[float, float]] = []

    def timed(function: Callable[[], Result]) -> Result:
        begun = time.monotonic()
        result = function()
        times.append((begun, time.monotonic()))
        return result

    results = _run_all([partial(timed, function) for function in functions])
    overlapped(max(begun for begun, _ in times) < min(ended for _, ended in times))
    return results


def _run_all(functions: Sequence[Callable[[], Result]]) -> list[Result]:
    """Runs each function in a thread of its own; raises the first exception."""
    start = threading.Barrier(len(functions))

    def begin(context: contextvars.Context, function: Callable[[], Result]) -> Result:
        with contextlib.suppress(threading.BrokenBarrierError):
            start.wait(_START_S)
        return context.run(function)

    with ThreadPoolExecutor(len(functions)) as runners:
        # A context can be used by one thread at a time, so each gets a copy; the tally in it is shared.
        running: list[Any] = [
            runners.submit(begin, contextvars.copy_context(), function) for function in functions
        ]
    return [each.result() for each in running]
