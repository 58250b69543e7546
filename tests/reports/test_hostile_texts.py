"""Texts that cost time with the square of their length would stall a run for an hour."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.attack

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "hostile_texts.py"
# A second or so where the time is linear; a quarter of an hour for each text where it is not.
SIZE, LIMIT_S = 200_000, 300


def test_every_text_from_a_target_is_read_to_its_end() -> None:
    command = [sys.executable, str(PROGRAM), "--size", str(SIZE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 100
