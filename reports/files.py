"""The folder that a run leaves behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

from reports.verdicts import RunResult
from reports.wireform import report


def write_reports(result: RunResult, folder: Path) -> Path:
    """Writes report.json, and says where it is; a reader never meets a half-written file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.json"
    unfinished = path.with_suffix(".json.part")
    unfinished.write_text(json.dumps(report(result), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(unfinished, path)  # noqa: PTH105 - atomic on every system
    return path
