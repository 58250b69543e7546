"""The growth of a run: the chosen parts, the straight lines, the table and the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import growth
import pytest
from growth_chart import drawn, ticks
from growth_lines import PANELS, Point, fitted, medians, of_panel, table

CHECKS, EXAMPLES, WORKERS = PANELS


def points() -> list[Point]:
    """Three rounds on exact lines, the wall of one of them a second later."""
    shares = {"25%": 400.0, "50%": 800.0, "100%": 1600.0}
    return [
        each
        for late in (0.0, 1.0, 0.0)
        for each in (
            *(point("checks", share, x, 10 + 0.03 * x + late, 5 + 0.04 * x) for share, x in shares.items()),
            *(point("examples", f"{x}", x, 10 + 0.02 * x + late, 5 + 0.03 * x) for x in (45.0, 180.0, 720.0)),
            *(point("workers", f"{x}", x, 20 + 60 / x + late, 80 - 8 / x) for x in (1.0, 2.0, 4.0, 8.0)),
        )
    ]


def point(panel: str, setting: str, x: float, wall_s: float, processor_s: float) -> Point:
    return Point(panel=panel, setting=setting, x=x, wall_s=wall_s, processor_s=processor_s)


def test_parts_are_random_rules_until_their_checks_reach_the_share() -> None:
    checks = {f"RULE-{number:02}": number for number in range(1, 41)}

    quarter, half = (growth.part(checks, share, seed=3) for share in (0.25, 0.5))

    assert half[: len(quarter)] == quarter
    assert 205 <= sum(checks[rule] for rule in quarter) < 205 + 40
    assert 410 <= sum(checks[rule] for rule in half) < 410 + 40
    assert growth.part(checks, 0.25, seed=4) != quarter
    assert growth.part(checks, 1.0, seed=3) == []


def test_each_setting_is_one_run_of_a_round() -> None:
    settings = growth.settings(seed=1)

    assert len(settings) == 3 + 3 + 3
    assert [x for panel, _, x, _ in settings if panel == "examples"] == [
        examples * sum(growth.generating().values()) for examples in growth.EXAMPLES
    ]
    assert [words for panel, *_, words in settings if panel == "checks"][-1] == ["--workers", "2"]


def test_lines_have_the_least_squares() -> None:
    line = fitted(of_panel(points(), CHECKS), CHECKS, "wall_s")

    assert line.slope == pytest.approx(0.03)
    assert line.intercept == pytest.approx(10 + 1 / 3)
    assert line.text(CHECKS) == "10.3 s + 0.030 s per check"


def test_examples_are_counted_in_thousands_and_workers_divide() -> None:
    assert (
        fitted(of_panel(points(), EXAMPLES), EXAMPLES, "processor_s").text(EXAMPLES)
        == "5.0 s + 30.0 s per 1,000"
    )
    assert fitted(of_panel(points(), WORKERS), WORKERS, "wall_s").slope == pytest.approx(60)
    assert (
        fitted(of_panel(points(), WORKERS), WORKERS, "processor_s").text(WORKERS)
        == "80.0 s - 8.0 s ÷ workers"
    )


def test_medians_ignore_one_late_round() -> None:
    assert [each.wall_s for each in medians(of_panel(points(), CHECKS))] == pytest.approx([22, 34, 58])


def test_table_has_a_row_for_each_setting_and_each_line() -> None:
    lines = table(points()).splitlines()

    assert len(lines) == 2 + 3 + 3 + 4 + len(PANELS)
    assert "| checks | 100% | 1,600 | 58.0 | 69.0 |" in lines


@pytest.mark.parametrize(
    ("most", "last", "number"), [(0.5, 1, 1), (7, 8, 4), (110, 150, 3), (1672, 2000, 4), (9999, 10_000, 2)]
)
def test_axes_end_at_a_round_number(most: float, last: float, number: int) -> None:
    assert (ticks(most)[-1], len(ticks(most)) - 1) == (last, number)


def test_picture_is_well_formed_and_has_every_run_within_it() -> None:
    picture = ET.fromstring(drawn(points()))  # noqa: S314
    space = "{http://www.w3.org/2000/svg}"
    width, height = float(picture.get("width", "")), float(picture.get("height", ""))

    runs = [mark for mark in picture.iter() if mark.get("class") == "run"]
    assert len(runs) == 2 * len(points())
    assert all(0 < float(mark.get("cy") or mark.get("y") or 0) < height for mark in runs)
    assert all(0 < float(mark.get("cx") or mark.get("x") or 0) < width for mark in runs)
    assert len([line for line in picture.iter(f"{space}path") if line.get("class") == "line"]) == 6
    described = picture.find(f"{space}desc")
    assert described is not None
    assert described.text is not None
    assert "checks, wall: 10.3 s + 0.030 s per check." in described.text
