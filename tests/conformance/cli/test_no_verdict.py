"""Whatever goes wrong in gateproof itself, or stops it, is no verdict about the target."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance import cli
from gateproof.conformance.cli import doctor


def test_fault_of_gateproof_is_one_line_without_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(_: object) -> int:
        raise KeyError("s3cret")

    monkeypatch.setattr(doctor, "handle", breaks)
    assert cli.main(["doctor", "--target", "any.toml"]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "gateproof itself broke" in said
    assert "s3cret" not in said


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_signal_before_the_first_request_is_no_verdict(stop: signal.Signals, tmp_path: Path) -> None:
    """The target never gets ready, so the signal comes before the run has a header."""
    (tmp_path / "never.py").write_text("import time\nopen('up', 'w').close()\ntime.sleep(60)\n")
    (tmp_path / "target.toml").write_text(
        '[target]\nrole = "gateway"\nname = "never"\n'
        'base_url = "http://127.0.0.1:{port}"\ncore_url = "http://127.0.0.1:{port}"\n'
        f'[launch]\ncommand = ["{sys.executable}", "never.py"]\n'
    )
    process = subprocess.Popen(
        [*WARM, "gateproof", "run", "--target", "target.toml", "--quiet"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "up").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(stop)
    said, _ = process.communicate(timeout=60)

    assert process.returncode == 3, said
    assert "Traceback" not in said
    name = "Ctrl-C" if stop is signal.SIGINT else stop.name
    assert f"stopped by {name}" in said
