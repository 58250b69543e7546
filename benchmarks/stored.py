"""The results of measurements as JSON files of this folder; `make docs` draws the tables of the README."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from whole_runs import ROOT, commit

FOLDER = Path(__file__).parent
NOT_YET = "Not measured yet."
Results = Mapping[str, Any]
# Results as Markdown.
Drawn = Callable[[Results], str]


def add_options(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument("--keep", action="store_true", help=f"store the results in {name}.json")
    parser.add_argument("--table", action="store_true", help="print the stored results, and measure nothing")


def with_circumstances(results: Results) -> dict[str, Any]:
    """The results with what was measured, where, and how busy the machine was at the end."""
    where = {"commit": commit(ROOT), "processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    return {**where, **results}


def keep(name: str, results: Results) -> None:
    text = json.dumps(results, indent=1, ensure_ascii=False)
    file_of(name).write_text(text + "\n", encoding="utf-8")


def kept(name: str) -> dict[str, Any] | None:
    """The stored results; None before the first measurement."""
    file = file_of(name)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def shown(results: Results, drawn: Drawn) -> str:
    """The results as Markdown, with their circumstances below."""
    where = "Measured at `{commit}` on {processors} processors; load of the machine at the end: {load}."
    return f"{drawn(results)}\n\n{where.format(**results)}"


def table_of(name: str, drawn: Drawn) -> str:
    """The stored results as Markdown."""
    found = kept(name)
    return NOT_YET if found is None else shown(found, drawn)


def file_of(name: str) -> Path:
    return FOLDER / f"{name}.json"
