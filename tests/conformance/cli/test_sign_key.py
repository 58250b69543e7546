"""The key that signs a record is nobody else's, least of all a target's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gateproof.conformance.cli import main
from gateproof.reports.variables import SIGN_KEY

pytestmark = pytest.mark.attack

TELLS = "import os, pathlib; pathlib.Path('told').write_text(os.environ.get('GATEPROOF_SIGN_KEY', 'nothing'))"
TARGET = f"""
[target]
role = "gateway"
name = "gateway that tells of its environment"
base_url = "https://127.0.0.1:9"
core_url = "https://127.0.0.1:9"
[launch]
command = ['{sys.executable}', '-c', {TELLS!r}]
ready_url = "https://127.0.0.1:9/"
timeout_s = 5
[control]
url = "http://127.0.0.1:9/control"
[[users]]
name = "alice"
login = "alice@merchant.example"
password_env = "ALICE"
[[users]]
name = "bob"
login = "bob@merchant.example"
password_env = "BOB"
"""


def test_program_that_doctor_starts_does_not_get_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "gateway.toml"
    target.write_text(TARGET)
    for name in (SIGN_KEY, "ALICE", "BOB"):
        monkeypatch.setenv(name, f"{name}-of-somebody")

    assert main(["doctor", "--target", str(target)]) != 0

    assert (tmp_path / "told").read_text() == "nothing", capsys.readouterr().err
