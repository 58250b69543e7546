"""The doctor launches an agent once, and says how far it came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance.cli import main
from gateproof.conformance.suite import rules


def written(folder: Path, *command: str) -> str:
    file = folder / "agent.toml"
    launch = f"[launch]\ncommand = {json.dumps(command)}\ntimeout_s = 20\n"
    file.write_text(f'[target]\nrole = "agent"\nname = "orders"\n{launch}')
    return str(file)


def test_agent_that_gets_through_is_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--target", written(tmp_path, *WARM, "gateproof.reference.agent")]) == 0
    said = capsys.readouterr().out

    assert said.startswith("orders runs\n")
    count = len(rules.load().for_role("agent"))
    assert f"{count} of {count} rules will be tested" in said


def test_first_step_that_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (*WARM, "gateproof.reference.defects", "agent", "gives-up-at-the-challenge")
    assert main(["doctor", "--target", written(tmp_path, *command), "--json"]) == 0
    doubts = json.loads(capsys.readouterr().out)["doubts"]

    assert doubts[0].endswith("read the service's metadata")
    assert "exit code 1 and no orders read" in doubts[1]


def test_program_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--target", written(tmp_path, "no-such-agent")]) == 3
    assert "no program no-such-agent" in capsys.readouterr().err
