"""Whenever a run is told to stop, it says so, leaves a record that can be read, and nothing else."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from warm import WARM

# `make attack` stops many more runs.
A_ROLE = 40 if "GATEPROOF_WHOLE" in os.environ else 2
LATEST_S = 12.0 if "GATEPROOF_WHOLE" in os.environ else 5.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
CASES = [
    pytest.param(role, SIGNALS[(number + start) % 4], f"{role}/{number}", id=f"{role}-{number}")
    for start, role in enumerate(("gateway", "service", "agent"))
    for number in range(A_ROLE)
]

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes cannot be listed here"),
]


def left(scratch: Path) -> list[int]:
    """The processes whose folder for temporary files is this one, or one below it."""
    wanted, found = f"TMPDIR={scratch}".encode(), []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if any(each.startswith(wanted) for each in place.read_bytes().split(b"\0")):
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.usefixtures("hang_up_heard")
@pytest.mark.parametrize(("role", "stop", "seed"), CASES)
def test_run_ends_as_it_was_told_to(role: str, stop: signal.Signals, seed: str, tmp_path: Path) -> None:
    moment = random.Random(seed).uniform(0.0, LATEST_S)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "gateproof", "run", role, "--workers", "2", "--examples", "2"]
    with (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(scratch)},
        )
        time.sleep(moment)
        process.send_signal(stop)
        try:
            code = process.wait(60)
        finally:
            process.kill()

    said, told = (tmp_path / "output").read_text(), f"{stop.name} after {moment:.2f} s"
    # An interpreter that has not loaded our code yet is ended by the signal itself.
    starting = "gateproof tests" not in said
    deadline = time.monotonic() + 90
    while (left(scratch) or list(scratch.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left(scratch) == [], told
    assert list(scratch.iterdir()) == [], told
    assert starting or "Traceback" not in said, f"{told}: {said}"
    assert code == -stop if stop is signal.SIGKILL else starting or code in {1, 3}, f"{told}: {said}"

    folder = tmp_path / "gateproof-report"
    if not (folder / "evidence.jsonl").exists() or not (folder / "evidence.jsonl").stat().st_size:
        assert starting or stop is signal.SIGKILL, told
        return
    draw = ["report", "gateproof-report"] if stop is signal.SIGKILL else ["verify", "gateproof-report"]
    read = subprocess.run(
        [*WARM, "gateproof", *draw],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert read.returncode == 0, f"{told}: {read.stdout}{read.stderr}"
    report = json.loads((folder / "report.json").read_text())
    assert report["run"]["complete"] is False, told
    assert report["verdict"] in {"no-verdict", "not-conformant"}, told
