"""badge.svg: the verdict in words, readable by everybody, asking nobody for anything."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult

SVG = "{http://www.w3.org/2000/svg}"


def badge(result: RunResult) -> ElementTree.Element:
    return ElementTree.fromstring(render("badge", result)["badge.svg"])  # noqa: S314 - our own output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mixed", "not conformant, 2 not tested"),
        ("interrupted", "no verdict, run cut short, 9 not tested"),
        ("empty", "no verdict, run cut short"),
        ("green", "conformant"),
    ],
)
def test_it_says_in_words_what_a_reader_in_a_hurry_must_not_miss(
    runs: dict[str, RunResult], name: str, words: str
) -> None:
    assert [each.text for each in badge(runs[name]).iter(f"{SVG}text")] == ["gateproof", words]


def test_it_can_be_read_aloud(sample: RunResult) -> None:
    root = badge(sample)
    assert root.get("role") == "img"
    named = {each.get("id"): each.text for each in root if each.get("id")}
    assert set(str(root.get("aria-labelledby")).split()) == set(named)
    assert "gateproof: " in str(named["title"])


def test_it_holds_nothing_that_runs_or_fetches(sample: RunResult) -> None:
    allowed = {f"{SVG}{name}" for name in ("svg", "title", "desc", "rect", "g", "text")}
    for element in badge(sample).iter():
        assert element.tag in allowed
        assert not [name for name in element.keys() if "href" in name or name.startswith("on")]  # noqa: SIM118


def contrast(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 1.05 / (luminance + 0.05)


def test_white_words_stand_out_from_every_colour(sample: RunResult) -> None:
    for rectangle in badge(sample).iter(f"{SVG}rect"):
        assert contrast(str(rectangle.get("fill"))) >= 4.5
