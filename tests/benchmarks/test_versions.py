"""The comparison of two checkouts: what is read from a record, the columns, and the table."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import versions
import whole_runs
from processes import Usage
from versions import Run
from whole_runs import RECORD, ROOT, WholeRun, recorded

RUN = Run(
    wall_s=20.0,
    processor_s=10.0,
    processor_s_of={"harness": 6.0, "gateway": 3.0},
    memory_mb=900.4,
    pss_mb=500.0,
    checks=2,
    exchanges=4000,
)
OLDER, OWN = ("A-01/one", "A-01/gone"), ("A-01/one", "A-01/two", "B-01/three")


def rows(table: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {label: values for label, *values in cells}


def test_attempts_of_a_check_are_one_check_of_a_record() -> None:
    lines = [
        {"type": "header"},
        {"type": "exchange", "check": "A/one"},
        {"type": "check", "id": "A/one", "duration_s": 0.5},
        {"type": "check", "id": "A/one", "duration_s": 0.25},
        {"type": "exchange", "check": "A/two"},
        {"type": "check", "id": "A/two", "duration_s": 2.0},
        {"type": "footer"},
    ]

    assert recorded("\n".join(map(json.dumps, lines))) == ({"A/one": 0.75, "A/two": 2.0}, 2)


def test_figures_are_those_of_the_run() -> None:
    usage = Usage(
        exit_code=0,
        wall_s=20.0,
        processor_s=10.0,
        processor_s_of={"harness": 6.0, "gateway": 3.0},
        memory_mb=900.4,
        pss_mb=500.0,
    )

    run = WholeRun(usage=usage, seconds_of={"A/one": 1.0, "A/two": 1.0}, exchanges=4000)

    assert versions.figures(run) == RUN


def test_table_has_medians_ranges_and_ratios_to_the_first_column() -> None:
    older = [replace(RUN, wall_s=40.0, exchanges=2000)] * 3
    ours = [RUN, replace(RUN, wall_s=10.0), replace(RUN, wall_s=30.0)]

    shown = rows(versions.table({"older": older, "same": ours, "all": [replace(RUN, exchanges=8000)]}))

    assert shown["median (least to most)"] == ["older", "same", "ratio", "all", "ratio"]
    assert shown["wall, s"] == ["40.0", "20.0 (10.0 to 30.0)", "0.50", "20.0", "0.50"]
    assert shown["exchanges"] == ["2,000", "4,000", "2.00", "8,000", "4.00"]
    assert shown["wall per exchange, ms"] == ["20.00", "5.00 (2.50 to 7.50)", "0.25", "2.50", "0.12"]
    assert shown["— of the merchant, s"] == ["0.0", "0.0", "", "0.0", ""]
    assert shown["— not seen by samples, s"] == ["1.0", "1.0", "1.00", "1.0", "1.00"]


def test_table_of_one_checkout_has_no_ratio() -> None:
    assert rows(versions.table({"this": [RUN]}))["wall, s"] == ["20.0"]


def test_newer_checkout_runs_with_the_checks_of_both_and_with_all() -> None:
    older, same, every = versions.columns(ROOT, OLDER, OWN, only=["[AB]-01"]).values()

    assert (older.only, older.chosen) == (["[AB]-01"], None)
    assert (same.only, same.chosen) == (["A-01"], {"A-01/one"})
    assert (every.only, every.chosen) == (["[AB]-01"], None)


def test_newer_checkout_without_other_checks_runs_once() -> None:
    assert len(versions.columns(ROOT, OLDER, ["A-01/one"], only=[])) == 2
    assert len(versions.columns(None, (), OWN, only=[])) == 1


def test_checks_that_one_checkout_lacks_are_counted() -> None:
    assert versions.differences(OLDER, OWN) == (
        "2 checks came since, 1 of them in 1 new rules. 1 checks are in the older checkout only."
    )


def test_stored_results_are_a_table() -> None:
    stored = {**RUN.__dict__, "wall_s": 12.5}
    results = {"rounds": 1, "workers": 2, "differences": "Nothing else.", "runs": {"this": [stored]}}

    shown = versions.drawn(results)

    assert "| wall, s | 12.5 |" in shown
    assert shown.endswith("1 runs of each with 2 workers. Nothing else.")


def test_chosen_run_runs_the_chosen_checks_only(tmp_path: Path) -> None:
    chosen = {"DISC-02/issuer_is_a_non_empty_string"}
    file, out = tmp_path / "checks.json", tmp_path / "report"
    file.write_text(json.dumps(sorted(chosen)))
    command = [sys.executable, str(whole_runs.CHOSEN_RUN), str(file), "run", "--only", "DISC-02"]
    command += ["--quiet", "--workers", "1", "--out", str(out)]

    done = subprocess.run(command, capture_output=True, timeout=300, check=False)

    seconds_of, _ = recorded((out / RECORD).read_text(encoding="utf-8"))
    assert (seconds_of.keys(), done.returncode) == (chosen, 0), done.stderr
