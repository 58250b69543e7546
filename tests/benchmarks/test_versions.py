"""The comparison of two checkouts: what is read from a record, and the table."""

from __future__ import annotations

import json

import versions
from processes import Usage
from whole_runs import WholeRun, recorded


def run(wall_s: float, exchanges: int) -> WholeRun:
    usage = Usage(
        exit_code=0,
        wall_s=wall_s,
        processor_s=10.0,
        processor_s_of={"harness": 6.0, "gateway": 3.0},
        memory_mb=900.4,
        pss_mb=500.0,
    )
    return WholeRun(usage=usage, seconds_of={"A/one": 1.0, "A/two": 1.0}, exchanges=exchanges)


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


def test_table_has_medians_ranges_and_ratios() -> None:
    ours, older = [run(20.0, 4000), run(10.0, 4000), run(30.0, 4000)], [run(40.0, 2000)] * 3

    shown = rows(versions.table({"this": ours, "older": older}))

    assert shown["median (least to most)"] == ["this", "older", "ratio"]
    assert shown["wall, s"] == ["20.0 (10.0 to 30.0)", "40.0", "0.50"]
    assert shown["exchanges"] == ["4,000", "2,000", "2.00"]
    assert shown["wall per exchange, ms"] == ["5.00 (2.50 to 7.50)", "20.00", "0.25"]
    assert shown["— of the merchant, s"] == ["0.0", "0.0", ""]
    assert shown["— not seen by samples, s"] == ["1.0", "1.0", "1.00"]


def test_table_of_one_checkout_has_no_ratio() -> None:
    assert rows(versions.table({"this": [run(20.0, 4000)]}))["wall, s"] == ["20.0"]
