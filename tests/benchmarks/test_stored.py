"""Stored results of measurements, their tables, and the picture that belongs to its data."""

from __future__ import annotations

import sys
from pathlib import Path

import growth
import pytest
import sign_in
import stored
from growth_lines import PANELS, Point

POINTS = [
    Point(panel=panel.name, setting=str(x), x=x, wall_s=10.0 + x, processor_s=20.0)
    for panel in PANELS
    for x in (1.0, 2.0)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    return tmp_path


def test_picture_is_the_one_of_its_data() -> None:
    """`make bench BENCH=growth ARGS=--draw` draws it again."""
    found, picture = stored.kept(growth.NAME), growth.picture_file()

    assert picture.exists() is (found is not None)
    assert found is None or picture.read_text(encoding="utf-8") == growth.drawn_picture(found)


def test_stored_results_are_drawn_without_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = {"rounds": 1, "points": [point.as_dict() for point in POINTS]}
    stored.keep(growth.NAME, stored.with_circumstances(results))
    monkeypatch.setattr(sys, "argv", ["growth.py", "--draw"])

    assert growth.main() == 0

    picture, printed = growth.picture_file(), capsys.readouterr().out
    assert picture.parent == folder
    assert picture.read_text(encoding="utf-8") == growth.drawn_picture(results)
    assert printed.startswith("![How a run grows](growth.svg)")
    assert "| workers | 2.0 | 2 | 12.0 | 20.0 |" in printed


@pytest.mark.usefixtures("folder")
def test_every_round_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_after = list[int]()

    def measured_round(seed: int, _limit_s: float) -> list[Point]:
        stored_after.append(len((stored.kept(growth.NAME) or {"points": []})["points"]))
        assert seed == 4 + len(stored_after)
        return POINTS

    monkeypatch.setattr(growth, "measured_round", measured_round)
    monkeypatch.setattr(sys, "argv", ["growth.py", "--rounds", "3", "--seed", "5"])

    assert growth.main() == 0

    assert stored_after == [0, len(POINTS), 2 * len(POINTS)]
    found = stored.kept(growth.NAME)
    assert found is not None
    assert (found["rounds"], len(found["points"])) == (3, 3 * len(POINTS))
    assert growth.picture_file().read_text(encoding="utf-8") == growth.drawn_picture(found)


@pytest.mark.usefixtures("folder")
def test_results_are_shown_with_where_they_were_measured() -> None:
    assert stored.table_of(sign_in.NAME, sign_in.drawn) == stored.NOT_YET
    results = {"rounds": 5, "sign_ins": 200, "seconds": {"harness": 0.01}}
    where = {"commit": "0a1b2c3d", "processors": 2, "load": 0.3}

    stored.keep(sign_in.NAME, {**where, **results})

    shown = stored.table_of(sign_in.NAME, sign_in.drawn)
    assert "| harness | 10.00 |" in shown
    assert "The best of 5 rounds of 200 sign-ins." in shown
    assert shown.endswith("Measured at `0a1b2c3d` on 2 processors; load of the machine at the end: 0.3.")
