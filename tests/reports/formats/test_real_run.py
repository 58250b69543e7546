"""A run that took place ends in every verdict that a run can end in, and every output of it holds.

The readers of others are asked about it as they are about the runs that never took place.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from gateproof.conformance.cli.outputs import write_all
from gateproof.reports import seal
from gateproof.reports.formats import FORMATS
from gateproof.reports.record import FILE
from gateproof.reports.signing import signing_key
from gateproof.reports.verdicts import Reason, RunResult, RunVerdict, Verdict
from gateproof.reports.verify import verify

READERS = Path(__file__).resolve().parents[3] / ".venv-readers" / "bin" / "python"
OFFICIAL = Path(__file__).resolve().parents[1] / "evidence" / "official_seal.py"
EXPECTED = {
    "DISC-01": Verdict.PASSED,
    "DISC-07": Verdict.OBSERVED,
    "REG-01": Verdict.PASSED,
    "CODE-11": Verdict.FAILED,
    "CLAIM-02": Verdict.FAILED,
    "KEYS-04": Verdict.NOT_TESTABLE,
    "PROXY-04": Verdict.ERROR,
    "PROXY-10": Verdict.FAILED,
    "SECRET-02": Verdict.FAILED,
}


@pytest.fixture
def folder(real_run: RunResult, real_folder: Path, tmp_path: Path) -> Path:
    """Everything that the run can leave."""
    shutil.copy(real_folder / FILE, tmp_path)
    write_all(real_run, tmp_path, list(FORMATS), signing_key(None, {}))
    return tmp_path


def test_it_ends_in_every_verdict(real_run: RunResult) -> None:
    assert {rule.id: rule.verdict for rule in real_run.rules} == EXPECTED
    assert real_run.verdict is RunVerdict.NOT_CONFORMANT
    assert [rule.id for rule in real_run.rules if rule.baselined] == ["PROXY-10"]
    reasons = Counter(check.reason for rule in real_run.rules for check in rule.checks)
    assert {Reason.EXPECTATION_BROKEN, Reason.CONTROL_FAILED, Reason.NEED_MISSING} <= reasons.keys()


def test_its_folder_is_whole(folder: Path) -> None:
    assert verify(folder).findings == ()


@pytest.mark.needs("readers")
def test_official_readers_accept_its_seal(folder: Path) -> None:
    command = [str(READERS), "-I", str(OFFICIAL), str(folder), *seal.FILES]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["FAILED", "2", "4", "3"]
