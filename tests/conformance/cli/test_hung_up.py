"""Whoever hangs up on a run has no verdict, and must not take that for a good one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gateproof.conformance.cli.outputs import forget

pytestmark = pytest.mark.attack


def test_run_whose_reader_hung_up_has_no_verdict(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gateproof", "run", "--only", "DISC-01", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.wait(60) == 3


def test_outputs_of_an_earlier_run_are_taken_away_and_nothing_else(tmp_path: Path) -> None:
    for name in ("report.html", "report.json", "seal.verdicts.dsse.json", "evidence.jsonl", "notes.txt"):
        (tmp_path / name).write_text("x")

    forget(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["evidence.jsonl", "notes.txt"]
