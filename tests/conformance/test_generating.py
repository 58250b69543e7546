"""Generated input is the same for the same seed, and what is told of a failure is the smallest of it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from hypothesis import strategies as st

from gateproof.conformance.suite.claims import LeftOut, Violated, expect, tallying
from gateproof.conformance.suite.generated_input import Draw
from gateproof.reports.verdicts import EXAMPLE


def test_smallest_input_that_fails_is_kept() -> None:
    def holds(values: list[int]) -> None:
        expect.that(sum(values) < 100, "the sum", expected="less than 100", got=str(sum(values)))

    with tallying() as tally, pytest.raises(Violated):
        Draw(seed=3, examples=200).each(st.lists(st.integers(0, 1000)), holds)
    assert tally.attached == {EXAMPLE: [100]}
    assert tally.replay == {"kind": "example", "value": [100]}


def test_stored_example_is_asked_as_it_stands() -> None:
    asked: list[object] = []
    again = Draw(seed=3, examples=200, replay={"kind": "example", "value": [7, 93]})
    again.each(st.lists(st.integers(0, 1000)), asked.append)
    assert asked == [[7, 93]]


def test_nothing_is_kept_of_what_holds() -> None:
    with tallying() as tally:
        Draw(seed=3, examples=20).each(
            st.integers(), lambda value: expect.that(value is not None, "a", expected="", got="")
        )
    assert tally.attached == {}
    assert tally.expected > 1


def test_same_seed_draws_the_same() -> None:
    drawn: list[list[str]] = [[], []]
    for values in drawn:
        with tallying():
            Draw(seed=9, examples=20).each(st.text(max_size=20), values.append)
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 5


def test_what_else_is_loaded_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    drawn: list[list[str]] = [[], []]
    for turn, values in enumerate(drawn):
        (tmp_path / f"loaded_{turn}.py").write_text("\n".join(f"x = 'word {turn} {n}'" for n in range(50)))
        importlib.import_module(f"loaded_{turn}")
        with tallying():
            Draw(seed=9, examples=200).each(st.text(max_size=20), values.append)
    assert drawn[0] == drawn[1]
    assert not any(value.startswith("word ") for value in drawn[1])


def test_what_ends_a_draw_once_is_not_lost() -> None:
    asked: list[object] = []

    def holds(value: int) -> None:
        asked.append(value)
        if len(asked) == 3:
            raise LeftOut("the third is left out")

    with tallying(), pytest.raises(LeftOut, match="third"):
        Draw(seed=3, examples=200).each(st.integers(), holds)
    assert len(asked) == 3


def test_claim_that_broke_before_is_what_is_told() -> None:
    broken: list[object] = []

    def holds(value: int) -> None:
        if broken:
            raise LeftOut("too late")
        broken.append(value)
        expect.that(False, "a claim", expected="a", got="b")

    with tallying() as tally, pytest.raises(Violated):
        Draw(seed=3, examples=200).each(st.integers(), holds)
    assert tally.replay == {"kind": "example", "value": broken[0]}


def test_what_was_stored_of_another_kind_is_left_out() -> None:
    with pytest.raises(LeftOut, match="not an example"):
        Draw(seed=3, examples=200, replay={"kind": "history"}).each(st.integers(), print)
