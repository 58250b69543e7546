"""summary.md: what limits the verdict stands above it all, and a job's summary never grows over its bound."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateproof.reports.formats import render
from gateproof.reports.summary import append_job_summary
from gateproof.reports.verdicts import RunResult


def summary(result: RunResult) -> str:
    return render("summary", result)["summary.md"].decode("utf-8")


def test_what_was_not_tested_stands_above_what_failed_and_what_passed(runs: dict[str, RunResult]) -> None:
    text = summary(runs["mixed"])
    order = [
        "acme-gateway 2.1.0: not conformant",
        "2 rules could not be tested and did not pass",
        "### Not tested (2)",
        "### Failed (2)",
        "### Ended in an error (1)",
        "### Failed without deciding (2)",
        "| family |",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_an_interrupted_run_says_so_before_anything_else(runs: dict[str, RunResult]) -> None:
    first = next(line for line in summary(runs["interrupted"]).splitlines() if line.startswith(">"))
    assert first.startswith("> **The run did not finish: interrupted.")


def test_a_selection_is_named(runs: dict[str, RunResult]) -> None:
    result = runs["green"]
    text = summary(
        RunResult(
            role=result.role,
            verdict=result.verdict,
            reason=result.reason,
            rules=result.rules,
            target=result.target,
            run={**result.run, "selection": {"only": ["DISC-*"], "skip": [], "shard": "1/3"}},
        )
    )
    assert "Only a part of the rules was selected" in text
    assert "DISC-\\*" in text
    assert "--shard 1/3" in text


@pytest.mark.parametrize(
    ("asked", "rows", "caveat"),
    [
        (
            {"faults": True, "examples": 20},
            ["Faults | `placed`", "Examples | `20 for each rule that has some`"],
            "",
        ),
        ({"faults": True, "examples": 50}, ["Examples | `50 for each rule that has some, usual are 20`"], ""),
        (
            {"faults": False, "examples": 5},
            ["Faults | `left out`", "Examples | `5 for each rule that has some, usual are 20`"],
            "Less was tried than is usual: no faults, 5 examples in place of 20.",
        ),
        (
            {"faults": True, "examples": 0},
            ["Examples | `none`"],
            "Less was tried than is usual: no examples.",
        ),
        ({}, [], ""),
    ],
)
def test_summary_says_how_much_was_tried(
    runs: dict[str, RunResult], asked: dict[str, Any], rows: list[str], caveat: str
) -> None:
    result = runs["green"]
    known = {name: value for name, value in result.run.items() if name not in {"faults", "examples"}}
    text = summary(replace(result, run={**known, **asked}))
    assert [row for row in rows if f"| {row} |" not in text] == []
    assert ("Faults" in text, "Examples" in text) == (bool(asked), bool(asked))
    assert [line for line in text.splitlines() if "Less was" in line] == (
        [f"> **{caveat}**"] if caveat else []
    )


def test_hostile_text_neither_breaks_the_tables_nor_becomes_markup(runs: dict[str, RunResult]) -> None:
    text = summary(runs["hostile"])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} <= {3, 8}
    outside = "".join(part for number, part in enumerate(text.split("``")) if number % 2 == 0)
    assert "<script" not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert "@alice" not in outside


def test_a_summary_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_text("before\n", encoding="utf-8")
    append_job_summary(path, "after\n")
    assert path.read_text(encoding="utf-8") == "before\nafter\n"


@pytest.mark.parametrize("there", [0, 500, 990, 1000, 2000])
def test_a_summary_stays_below_the_bound_and_says_that_it_was_cut(tmp_path: Path, there: int) -> None:
    path = tmp_path / "summary"
    path.write_bytes(b"x" * there)
    append_job_summary(path, "ä line of text\n" * 200, most=1000)
    content = path.read_bytes()
    assert len(content) <= max(1000, there)
    added = content[there:].decode("utf-8")
    assert not added or added.endswith("it is in the report.*\n")
    assert bool(added) == (there < 900)


def test_a_green_tick_is_for_the_whole_catalogue(runs: dict[str, RunResult]) -> None:
    whole = runs["green"]
    part = replace(whole, run={**whole.run, "selection": {"only": ["DISC-*"], "skip": []}})
    assert summary(whole).startswith("## ✅ ")
    assert summary(part).startswith("## ◐ ")
    assert summary(part).splitlines()[0].endswith("conformant (a part of the rules)")
