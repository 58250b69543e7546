"""A campaign goes on until its time is over, and begins with what failed in one before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st

from gateproof.conformance.suite.campaign import Campaign, share_s
from gateproof.conformance.suite.claims import NoOverlap, Violated, expect, overlapped, tallying
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.suite.races import Races
from gateproof.reports.verdicts import EXAMPLE

CHECK = "ROBUST-01/generated[a/b]"


def campaign(folder: Path, share: float = 0.0) -> Campaign:
    return Campaign(share_s=share, folder=folder)


def test_there_is_a_first_turn_without_any_time(tmp_path: Path) -> None:
    assert list(campaign(tmp_path).turns()) == [0]


def test_turns_end_with_the_time(tmp_path: Path) -> None:
    turns = list(campaign(tmp_path, share=0.05).turns())

    assert turns == list(range(len(turns)))
    assert len(turns) > 1


@pytest.mark.parametrize(
    ("at_once", "one_by_one", "workers", "share"),
    [(4, 0, 2, 300.0), (0, 2, 2, 300.0), (4, 2, 2, 150.0), (0, 0, 1, 0.0)],
)
def test_time_is_shared_by_those_who_run_side_by_side_and_alone(
    at_once: int, one_by_one: int, workers: int, share: float
) -> None:
    assert share_s(10, at_once=at_once, one_by_one=one_by_one, workers=workers) == share


def test_later_turns_draw_with_other_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Campaign, "turns", lambda _: iter(range(4)))
    drawn: list[int] = []
    with tallying():
        Draw(seed=1, examples=3, check=CHECK, campaign=campaign(tmp_path)).each(
            st.integers(0, 10**12), drawn.append
        )

    assert len(set(drawn)) > 5


def test_what_failed_before_fails_at_once_with_another_seed(tmp_path: Path) -> None:
    def holds(value: int) -> None:
        expect.that(value < 987_654, "the value", expected="a smaller one", got=str(value))

    strategy = st.integers(0, 10**6)
    with tallying() as tally, pytest.raises(Violated):
        Draw(seed=1, examples=5_000, check=CHECK, campaign=campaign(tmp_path)).each(strategy, holds)
    assert tally.attached == {EXAMPLE: 987_654}

    asked: list[int] = []

    def counted(value: int) -> None:
        asked.append(value)
        holds(value)

    with tallying(), pytest.raises(Violated):
        Draw(seed=2, examples=1, check=CHECK, campaign=campaign(tmp_path)).each(strategy, counted)
    assert 987_654 in asked[:3]


def test_nothing_is_kept_outside_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with tallying(), pytest.raises(Violated):
        Draw(seed=1, examples=5, check=CHECK).each(
            st.integers(), lambda _: expect.that(False, "a", expected="b", got="c")
        )
    assert list(tmp_path.iterdir()) == []


def test_stories_are_kept_once_and_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    kept, story = campaign(tmp_path), {"kind": "history", "steps": [{"do": "register"}]}
    assert kept.store(CHECK, story) == kept.store(CHECK, json.loads(json.dumps(story)))
    folder = kept.folder_of(CHECK)
    (folder / "half.json").write_text('{"kind": ')
    (folder / "list.json").write_text("[]")

    assert kept.stored(CHECK) == [story]
    assert folder.parent == tmp_path
    assert kept.stored("ROBUST-04/another") == []


def rounds_of(races: Races, *, overlap: bool) -> int:
    number = 0
    for _ in races.each():
        overlapped(overlap)
        number += 1
    return number


def test_races_are_run_until_the_time_is_over(tmp_path: Path) -> None:
    races = Races(check=CHECK, seed=1, racers=8, rounds=2, wanted=1)
    until = replace(races, campaign=campaign(tmp_path, share=0.05))
    with tallying():
        assert rounds_of(until, overlap=True) > 2
        assert rounds_of(races, overlap=True) == 1


def test_campaign_goes_on_until_enough_rounds_have_counted(tmp_path: Path) -> None:
    races = Races(check=CHECK, seed=1, racers=8, rounds=2, wanted=7, campaign=campaign(tmp_path, share=0))
    with tallying():
        assert rounds_of(races, overlap=True) == 7


def test_campaign_in_which_no_race_overlapped_shows_nothing(tmp_path: Path) -> None:
    races = Races(check=CHECK, seed=1, racers=8, rounds=2, wanted=1, campaign=campaign(tmp_path, share=0.05))
    with tallying(), pytest.raises(NoOverlap):
        rounds_of(races, overlap=False)


def test_something_is_done_between_two_turns_and_not_before_the_first(tmp_path: Path) -> None:
    done: list[str] = []
    turns = replace(campaign(tmp_path, share=0.05), between=lambda: done.append("between")).turns()
    for turn in turns:
        done.append(str(turn))
        if turn == 2:
            break
    assert done == ["0", "between", "1", "between", "2"]
