"""Races grow with the budget of examples, are the same for the same seed, and say what repeats them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gateproof.conformance.suite import races as racing
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.claims import NoOverlap, Unmet, expect, overlapped, overlaps, tallying
from gateproof.conformance.suite.races import (
    LARGEST_BUDGET,
    Races,
    examples_for,
    racers_for,
    require_answers,
    rounds_for,
    run_during,
    together,
    wanted_for,
)
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

RACES = Races(check="CODE-10/one", seed=7, racers=12, rounds=3, wanted=3)


def raced(
    races: Races, noted: Callable[[int], list[bool]] = lambda _: [True], *, at_most: int | None = None
) -> list[float]:
    """What each round draws first, in rounds of which this is noted."""
    drawn = []
    for number, choice in enumerate(races.each(at_most=at_most)):
        drawn.append(choice.random())
        for holds in noted(number):
            overlapped(holds)
    return drawn


def exchange(status: int | None) -> Exchange:
    answer = None if status is None else Answer(status=status)
    return Exchange(
        step="race", request=Request(method="GET", url=""), answer=answer, failure=None if status else "gone"
    )


def test_default_budget_makes_twelve_racers_in_three_rounds() -> None:
    assert (racers_for(20), rounds_for(20)) == (12, 3)


def test_no_budget_makes_the_smallest_races_and_a_large_one_has_a_bound() -> None:
    assert (racers_for(0), rounds_for(0)) == (8, 2)
    assert (racers_for(100_000), rounds_for(100_000)) == (32, 20)


@pytest.mark.parametrize("examples", range(0, 2 * LARGEST_BUDGET, 13))
def test_size_of_a_race_leads_back_to_a_budget(examples: int) -> None:
    size = racers_for(examples), rounds_for(examples)
    found = examples_for(*size)
    assert found is not None
    assert (racers_for(found), rounds_for(found)) == size


def test_size_that_no_budget_makes_has_none() -> None:
    assert examples_for(9, 20) is None


def test_choices_of_a_race_are_those_of_its_seed() -> None:
    with tallying() as tally:
        first = raced(RACES)
        assert first == raced(RACES)
        assert len(set(first)) == 3
        assert raced(RACES, at_most=1) == first[:1]
    assert tally.replay == {
        "kind": "race",
        "check": "CODE-10/one",
        "seed": 7,
        "racers": 12,
        "rounds": 3,
        "first": 0,
    }


def test_a_round_counts_only_when_all_its_races_overlapped() -> None:
    with tallying():
        assert len(raced(RACES, lambda number: [number >= 2])) == 5
        assert len(raced(RACES, lambda number: [True, number >= 2])) == 5
        assert len(raced(RACES, lambda _: [True, True])) == 3


def test_races_that_overlap_too_seldom_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with tallying(), pytest.raises(NoOverlap, match=r"1 of 3 rounds .* 20 had not"):
        raced(RACES, lambda number: [number == 0])
    monkeypatch.setattr(racing, "LOST_S", 0.0)
    with tallying(), pytest.raises(NoOverlap, match=r"2 of 3 rounds .* 1 had not"):
        raced(RACES, lambda number: [number < 2])


def test_a_round_without_a_race_is_a_mistake_of_the_check() -> None:
    with tallying(), pytest.raises(AssertionError, match="did not record"):
        raced(RACES, lambda _: [])


@pytest.mark.parametrize(("examples", "wanted"), [(0, 4), (20, 6), (40, 12)])
def test_the_budget_of_examples_says_how_many_rounds_have_to_count(examples: int, wanted: int) -> None:
    assert wanted_for(6, examples) == wanted
    assert wanted_for(1, 0) == 1


def test_round_of_a_campaign_is_stored_and_comes_first_when_it_is_run_again(tmp_path: Path) -> None:
    with tallying() as tally:
        races = Races(
            check="CODE-10/one",
            seed=7,
            racers=12,
            rounds=3,
            wanted=3,
            campaign=Campaign(share_s=60, folder=tmp_path),
        )
        choices = {}
        for number, choice in enumerate(races.each()):
            choices[number] = choice
            overlapped(True)
            if number == 5:
                break
    assert tally.replay is not None
    assert tally.replay["first"] == 5
    with tallying():
        again = next(replace(races, campaign=None, first=5).each())
    assert again.random() == choices[5].random()


def test_one_racer_may_be_lost_and_no_two() -> None:
    assert len(require_answers([exchange(200), exchange(None), exchange(400)])) == 3
    with pytest.raises(Unmet) as lost:
        require_answers([exchange(200), exchange(None), exchange(None)])
    assert "gone" in lost.value.got


def test_acts_are_run_all_at_once_and_claims_in_them_count() -> None:
    meeting = threading.Barrier(4, timeout=10)

    def act(number: int) -> int:
        meeting.wait()
        expect.equal(number, number, "number")
        return number

    with tallying() as tally:
        assert together([lambda n=n: act(n) for n in range(4)]) == [0, 1, 2, 3]  # type: ignore[misc]
        assert overlaps() == [True]
    assert tally.expected == 4


def test_acts_one_after_the_other_did_not_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racing, "_run_all", lambda acts: [act() for act in acts])
    with tallying():
        together([lambda: None, lambda: None])
        assert overlaps() == [False]


def test_an_act_that_raises_is_heard_of() -> None:
    def broken() -> None:
        raise LookupError("broken")

    with tallying(), pytest.raises(LookupError, match="broken"):
        together([lambda: None, broken])


def test_a_history_tells_what_began_before_a_change_from_what_began_after() -> None:
    changed = threading.Event()
    with tallying():
        history = run_during([changed.is_set] * 3, changed.set, random.Random(1))
    assert all(history.after)
    assert len(history.after) == 6
    assert not history.before[0]


def test_a_change_that_fails_ends_the_asking() -> None:
    def fail() -> None:
        raise LookupError("no change")

    with tallying(), pytest.raises(LookupError, match="no change"):
        run_during([lambda: None] * 2, fail, random.Random(1))


def test_it_is_noted_whether_anything_was_under_way_while_something_changed() -> None:
    going, asked = threading.Event(), threading.Semaphore(0)

    def ask() -> None:
        asked.release()
        going.wait(5)

    def change() -> None:
        for _ in range(3):
            asked.acquire(timeout=5)
        going.set()

    with tallying():
        run_during([ask] * 3, change, random.Random(1))
        assert overlaps() == [True]
