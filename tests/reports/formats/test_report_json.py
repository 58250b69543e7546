"""report.json is what the schema that ships with the package says."""

from __future__ import annotations

import json
from importlib.resources import files

from jsonschema import Draft202012Validator

from gateproof.reports.formats import render
from gateproof.reports.verdicts import RunResult

SCHEMA = json.loads(
    (files("gateproof.reports") / "schemas" / "report-1.schema.json").read_text(encoding="utf-8")
)


def test_the_report_is_valid(runs: dict[str, RunResult], real_run: RunResult) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    named = [runs[name] for name in ("mixed", "hostile", "interrupted", "green", "strict")]
    for run in (*named, real_run):
        report = json.loads(render("json", run)["report.json"])
        Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(report)
        assert report["counts"] == run.counts
