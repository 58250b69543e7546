"""`gateproof intercept install` makes an environment that runs find, and makes it once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.faults.intercept.finding import mitmdump
from gateproof.conformance.faults.intercept.installing import is_finished, own_environment


def test_proxy_is_installed_once_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert main(["intercept", "install"]) == 0
    assert "installs the intercepting proxy into" in capsys.readouterr().out
    place = own_environment(os.environ)
    assert mitmdump(os.environ, checkout=tmp_path) == place / "bin" / "mitmdump"

    assert main(["intercept", "install"]) == 0
    assert "installs" not in capsys.readouterr().out


def test_interrupted_installation_is_not_used(tmp_path: Path) -> None:
    variables = {"XDG_DATA_HOME": str(tmp_path), "PATH": ""}
    program = own_environment(variables) / "bin" / "mitmdump"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o700)

    assert not is_finished(own_environment(variables))
    assert mitmdump(variables, checkout=tmp_path) is None


def test_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))

    assert main(["intercept", "install"]) == 3
    assert "file" in capsys.readouterr().err
