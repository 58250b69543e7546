"""A run ends when its time is over, and reports what it saw until then."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance.run.drive.signals import terminated_as_interrupted
from gateproof.conformance.run.drive.time_limit import within

# The time is over after the twentieth result, however fast the machine is.
SCRIPT = """
import sys, threading
from pathlib import Path
from types import SimpleNamespace
from gateproof.conformance.cli.outputs import write_all
from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive import time_limit
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules

ends, seen = [], []

def timer(_seconds, end):
    ends.append(end)
    return SimpleNamespace(start=lambda: None, cancel=lambda: None)

def sink(result):
    seen.append(result)
    if len(seen) == 20:
        threading.Thread(target=ends[0]).start()

time_limit.threading = SimpleNamespace(
    Timer=timer, current_thread=threading.current_thread, main_thread=threading.main_thread
)
folder, workers = Path(sys.argv[1]), int(sys.argv[2])
selected = rules.select(rules.load().for_role("gateway"), ["VAULT-*", "AUTHZ-*", "REDEEM-*"], [])
options = RunOptions(workers=workers, max_minutes=0.12)
result = carry_out(embedded_reference("gateway"), selected, options, sink, folder)
write_all(result, folder, ["json"], None)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_run_without_time_has_no_verdict_and_a_whole_record(tmp_path: Path, workers: int) -> None:
    command = [*WARM, "-c", SCRIPT, str(tmp_path), str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verdict"] == "no-verdict"
    assert report["run"]["cut_short"] == "the run was stopped by --max-minutes 0.12"
    checks = [check for rule in report["rules"] for check in rule["checks"]]
    not_asked = [check for check in checks if "--max-minutes" in check["message"]]
    assert {check["verdict"] for check in not_asked} == {"not-testable"}
    assert 0 < len(not_asked) < len(checks)


def test_time_that_is_over_interrupts() -> None:
    def wait() -> None:
        with terminated_as_interrupted(), within(0.001):
            time.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        wait()
