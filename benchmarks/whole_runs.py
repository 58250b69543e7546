"""Runs the suite as a command of a checkout, and measures it. Used by the other programs of this folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from processes import Usage, measured

ROOT = Path(__file__).resolve().parents[1]
RECORD = "evidence.jsonl"
LIMIT_S = 900.0


@dataclass(frozen=True, kw_only=True)
class WholeRun:
    """What a run used; the duration of each check and the number of exchanges are from its record."""

    usage: Usage
    seconds_of: Mapping[str, float]
    exchanges: int

    @property
    def checks(self) -> int:
        return len(self.seconds_of)


def whole_run(checkout: Path, *words: str, limit_s: float = LIMIT_S) -> WholeRun:
    """`gateproof run` with these arguments; anything but exit code 0 ends this program."""
    with tempfile.TemporaryDirectory(prefix="gateproof-benchmark-") as folder:
        out = Path(folder) / "report"
        command = [str(checkout / ".venv" / "bin" / "gateproof"), "run", *words, "--quiet", "--out", str(out)]
        usage = measured(command, Path(folder), limit_s)
        if usage.exit_code:
            sys.exit(f"{' '.join(command)} ended with exit code {usage.exit_code}: its figures say nothing")
        seconds_of, exchanges = recorded((out / RECORD).read_text(encoding="utf-8"))
    return WholeRun(usage=usage, seconds_of=seconds_of, exchanges=exchanges)


def recorded(record: str) -> tuple[dict[str, float], int]:
    """The duration of each check, with all of its attempts, and the number of exchanges of a record."""
    seconds_of: dict[str, float] = {}
    exchanges = 0
    for line in map(json.loads, record.splitlines()):
        if line["type"] == "check":
            seconds_of[line["id"]] = seconds_of.get(line["id"], 0.0) + line["duration_s"]
        exchanges += line["type"] == "exchange"
    return seconds_of, exchanges


def commit(checkout: Path) -> str:
    """The commit of a checkout; with a plus sign if files differ from it."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--abbrev=8", "--exclude=*", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
