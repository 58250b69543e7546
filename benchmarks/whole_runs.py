"""Runs the suite as a command of a checkout, and measures it. Used by the other programs of this folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from processes import Usage, measured

ROOT = Path(__file__).resolve().parents[1]
RECORD = "evidence.jsonl"
CHOSEN_RUN = Path(__file__).with_name("chosen_run.py")
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


def whole_run(
    checkout: Path, *words: str, limit_s: float = LIMIT_S, chosen: Collection[str] | None = None
) -> WholeRun:
    """`gateproof run` with these arguments; anything but exit code 0 ends this program.

    With `chosen`, only these checks of the selected rules are run. This checkout alone can do that.
    """
    with tempfile.TemporaryDirectory(prefix="gateproof-benchmark-") as folder:
        out, scripts = Path(folder) / "report", checkout / ".venv" / "bin"
        command = [str(scripts / "gateproof")]
        if chosen is not None:
            checks = Path(folder) / "checks.json"
            checks.write_text(json.dumps(sorted(chosen)), encoding="utf-8")
            command = [str(scripts / "python"), str(CHOSEN_RUN), str(checks)]
        command += ["run", *words, "--quiet", "--out", str(out)]
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
