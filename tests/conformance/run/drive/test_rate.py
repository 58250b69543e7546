"""A run that may send so many requests a second sends no more, with all its workers together."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warm import WARM

RATE = 12


def run(folder: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of a run against the embedded reference, and the lines of its record."""
    command = [*WARM, "gateproof", "run", "--quiet", "--format", "none", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, check=False)
    assert done.stderr == ""
    record = (folder / "gateproof-report" / "evidence.jsonl").read_text()
    return done.returncode, [json.loads(line) for line in record.splitlines()]


def test_no_second_sees_more_requests_than_the_rate(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "--only", "CODE-01", "--rate", str(RATE), "--workers", "2")

    asked = [line for line in lines if line["type"] == "exchange"]
    target = urlsplit(next(line["url"] for line in asked if line["step"] == "registration")).netloc
    # An exchange's time is when its slot was asked for, so it is what came of it that is counted.
    ended = sorted(
        line["at_s"] + line["elapsed_s"] for line in asked if urlsplit(line["url"]).netloc == target
    )
    assert code == 0
    assert len(ended) > RATE
    assert (len(ended) - 1) / (ended[-1] - ended[0]) <= RATE


def test_races_that_need_more_at_once_are_left_out_and_say_so(tmp_path: Path) -> None:
    _, lines = run(tmp_path, "--only", "CODE-10", "--rate", "5")

    raced = [line for line in lines if line["type"] == "check" and "at one moment" in line.get("message", "")]
    assert raced
    assert {line["verdict"] for line in raced} == {"not-testable"}
    assert all("--rate allows 5 a second" in line["message"] for line in raced)
