"""What doctor says can be tested is what a run then tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance.cli import main

TESTED = {"passed", "failed", "observed"}


@pytest.fixture
def bare(launched_target: Callable[..., Path]) -> Path:
    """A gateway of which the addresses are known, and nothing else."""
    file = launched_target("gateproof.reference.gateway")
    file.write_text(file.read_text().replace("[control]\nurl", "ready_url"))
    return file


def forecast(target: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    assert main(["doctor", "--target", str(target), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    return {rule["id"] for rule in said["rules"] if rule["testable"]}


def decided(target: Path, folder: Path) -> set[str]:
    main(["run", "--target", str(target), "--no-intercept", "--out", str(folder), "--quiet"])
    report = json.loads((folder / "report.json").read_text())
    return {rule["id"] for rule in report["rules"] if rule["verdict"] in TESTED}


def test_gateway_without_a_project(bare: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--target", str(bare)]) == 0
    assert "has no approving Project with a Resource and a Proxy client" in capsys.readouterr().out
    assert forecast(bare, capsys) == decided(bare, tmp_path / "out")


def test_agent_that_does_not_get_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = ("gateproof.reference.defects", "agent", "gives-up-at-the-challenge")
    launch = f"[launch]\ncommand = {json.dumps([*WARM, *program])}\ntimeout_s = 20\n"
    target = tmp_path / "agent.toml"
    target.write_text(f'[target]\nrole = "agent"\nname = "stuck"\n{launch}')
    assert forecast(target, capsys) == {"AGENT-01"} <= decided(target, tmp_path / "out")
