"""Generated histories find what only a history shows, soon, and tell the shortest one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gateproof.conformance.histories import machine
from gateproof.conformance.histories.capabilities import Offer, narrowed, seeded
from gateproof.conformance.histories.planning import Memory
from gateproof.conformance.histories.shrinking import shortest
from gateproof.conformance.histories.step_loop import Play, Violation, play_random, repeat
from gateproof.conformance.histories.steps import from_json, to_json
from gateproof.conformance.histories.story import sentences_of
from gateproof.conformance.histories.table import TABLE
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.wire.client import TargetSilent

sys.path.insert(0, str(Path(__file__).parent))
import toy

HISTORIES, RUNS = 12, 12
# What a toy gateway does wrong, in what kind of history that shows, and the length of the shortest.
TIMED = {"stale": 11, "third refresh": 12, "mended once": 13}
UNTIMED = {"next let in": 7, "worn out": 5, "comes back": 5, "declined": 7, "foreign": 8, "code again": 6}


def search(wrong: str, offer: Offer, seed: int) -> tuple[Violation | None, list[Play]]:
    """What the budget of a run finds, and all that it played."""
    memory, plays = Memory(), []
    for number in range(HISTORIES):
        rng = seeded(seed, "test", number)
        play = toy.play(wrong)
        plays.append(play)
        violation, _ = play_random(
            play,
            narrowed(offer, number, rng),
            memory,
            rng,
            steps=machine.STEPS,
            probes=machine.PROBES,
        )
        if violation is not None:
            return violation, plays
    return None, plays


@pytest.mark.parametrize("offer", [toy.EVERYTHING, toy.UNTIMED], ids=["timed", "untimed"])
def test_honest_gateway_never_surprises(offer: Offer) -> None:
    for seed in range(12):
        violation, _ = search("", offer, seed)
        assert violation is None, sentences_of(violation, ("alice", "bob"))


@pytest.mark.parametrize(("wrong", "least"), {**TIMED, **UNTIMED}.items())
def test_wrong_gateway_is_found_and_its_story_is_the_shortest(wrong: str, least: int) -> None:
    """In all but one of the runs; the deepest in all but two. Which of several things comes first in a story
    may cost a step or two.
    """
    offer = toy.EVERYTHING if wrong in TIMED else toy.UNTIMED
    stories = []
    for seed in range(RUNS):
        violation, _ = search(wrong, offer, seed)
        if violation is not None:
            found = shortest(violation, lambda history: repeat(toy.play(wrong), history))
            stories.append(len(found.history))
    assert len(stories) >= RUNS - (2 if least > 12 else 1)
    assert min(stories) == least
    assert stories.count(least) >= 0.75 * len(stories)


def test_every_row_of_the_state_table_is_gone_through() -> None:
    """Within the budget of two runs; the two kinds of histories together."""
    rows = set[str]()
    for seed in range(2):
        for offer in (toy.EVERYTHING, toy.UNTIMED):
            _, plays = search("", offer, seed)
            rows |= {row for play in plays for row in play.rows}
    assert rows >= set(TABLE)


def test_same_seed_plays_the_same() -> None:
    one, other = ([to_json(play.steps) for play in search("", toy.EVERYTHING, seed=4)[1]] for _ in range(2))
    assert one == other


def test_stored_history_is_repeated_exactly() -> None:
    violation, _ = search("comes back", toy.UNTIMED, seed=1)
    assert violation is not None
    again = repeat(toy.play("comes back"), from_json(to_json(violation.history)))
    assert again is not None
    assert again.said == violation.said
    assert repeat(toy.play(), violation.history) is None


def test_story_numbers_its_steps_and_says_what_may_come() -> None:
    violation, _ = search("worn out", toy.UNTIMED, seed=2)
    assert violation is not None
    found = shortest(violation, lambda history: repeat(toy.play("worn out"), history))
    assert sentences_of(found, ("alice", "bob")) == [
        "There is Project 1, which holds new agents as Pending, with Proxy client 1.",
        "Agent 1 registers: 201.",
        "alice signs in for agent 1 at Project 1 and approves: no code.",
        "alice signs in for agent 1 at Project 1 and approves: no code.",
        "alice signs in for agent 1 at Project 1 and approves: got code, expected no code.",
    ]


def test_what_was_found_is_told_when_the_target_breaks_down_amid_the_cutting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a campaign keeps it as it was found, before anything else is tried."""
    violation, _ = search("comes back", toy.UNTIMED, 1)
    assert violation is not None
    kept = Campaign(share_s=1.0, folder=tmp_path)
    asked: list[int] = []

    def played(*_: object) -> None:
        asked.append(len(kept.stored("a check")))
        raise TargetSilent("a third time")

    monkeypatch.setattr(machine, "_played", played)
    draw = Draw(seed=1, examples=20, check="a check", campaign=kept)

    assert machine._kept(lambda: pytest.fail("no world is asked for"), None, draw, violation) == violation
    assert asked == [1]
    assert [from_json(story["steps"]) for story in kept.stored("a check")] == [violation.history]


def test_what_was_cut_down_takes_the_place_of_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    violation, _ = search("comes back", toy.UNTIMED, 1)
    assert violation is not None
    kept = Campaign(share_s=1.0, folder=tmp_path)
    monkeypatch.setattr(machine, "_played", lambda *given: repeat(toy.play("comes back"), given[-1]))
    draw = Draw(seed=1, examples=20, check="a check", campaign=kept)

    shown = machine._kept(lambda: pytest.fail("no world is asked for"), None, draw, violation)

    assert len(shown.history) < len(violation.history)
    assert [from_json(story["steps"]) for story in kept.stored("a check")] == [shown.history]
