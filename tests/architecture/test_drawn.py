"""The generated parts of pages are up to date; `make docs` writes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gateproof.conformance.run.drive.session import planned
from gateproof.conformance.suite import rules

ROOT = Path(__file__).resolve().parents[2]


def test_generated_parts_are_up_to_date() -> None:
    """The error names the page and the table."""
    command = [sys.executable, "docs/draw.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_readme_counts_the_checks_of_a_run() -> None:
    """CI compares the rest of what a run prints, when it has made one."""
    selected = rules.load().for_role("gateway")
    line = f"{len(planned(selected, 'gateway'))} checks of {len(selected)} rules, seed 7"
    assert line in (ROOT / "README.md").read_text(encoding="utf-8")
