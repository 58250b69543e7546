"""report.json: the whole run for programs; its schema is part of the package."""

from __future__ import annotations

from gateproof.reports.escaping import json_bytes
from gateproof.reports.result_json import report
from gateproof.reports.verdicts import RunResult


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    return {"report.json": json_bytes(report(result))}
