"""What failed is stored, and fails again on the gateway that it was seen of and on no other."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite.rules import load
from gateproof.reports.verdicts import CheckResult, Verdict

CHECK = "ROBUST-04/states_hold_over_generated_histories"
FILE = "replay/ROBUST-04-states_hold_over_generated_histories.json"


def gateproof(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WARM, "gateproof", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_found_history_is_told_and_repeated(launched_target: Callable[..., Path], tmp_path: Path) -> None:
    """The shortest story is printed, kept, and played step by step by another process."""
    defect = ("gateproof.reference.defects", "gateway", "revoked-until-there-is-another")
    target, out = launched_target(*defect), tmp_path / "report"
    ran = gateproof(
        "run", "--target", target, "--only", "ROBUST-04", "--seed", "3", "--examples", "4", "--out", out
    )
    assert ran.returncode == 1, ran.stdout
    document = json.loads((out / FILE).read_text(encoding="utf-8"))
    story = document["repeat"]["story"]
    assert len(story) == 5
    assert story[-1].endswith("asks for a Proxy token: got status 200, expected status 401.")
    assert f"gateproof replay {out / FILE}" in " ".join(ran.stdout.split())
    assert f"5. {story[-1]}" in " ".join(ran.stdout.split())
    assert "<ol class=story>" in (out / "report.html").read_text(encoding="utf-8")

    again = gateproof("replay", out / FILE, "--target", target, "--times", "2")
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, "failed 2 of 2 times")
    of_record = gateproof("replay", out, "--check", CHECK, "--target", target)
    assert of_record.returncode == 1

    unnamed = gateproof("replay", out / FILE)
    assert unnamed.returncode == 2
    assert "name its target file with --target" in unnamed.stderr

    honest = {**document, "command": "gateproof run --seed 1"}
    (out / FILE).write_text(json.dumps(honest), encoding="utf-8")
    mended = gateproof("replay", out / FILE)
    assert (mended.returncode, mended.stdout.splitlines()[-1]) == (0, "failed 0 of 1 time")


@pytest.mark.parametrize(
    ("wrong", "least"),
    [
        ("code-good-again-at-the-third-try", 6),
        ("next-agent-let-in", 7),
        ("foreign-project-at-the-second-try", 8),
    ],
)
def test_deep_bug_is_found_within_the_usual_budget_and_told_in_the_fewest_steps(
    wrong: str, least: int, tmp_path: Path
) -> None:
    program = (*WARM, "gateproof.reference.defects", "gateway", wrong)
    options, found = RunOptions(seed=7, chosen=frozenset({CHECK})), list[CheckResult]()
    carry_out(Embedded(name=wrong, program=program), [load()["ROBUST-04"]], options, found.append, tmp_path)
    (failed,) = found
    assert failed.verdict is Verdict.FAILED
    assert len((failed.replay or {})["story"]) == least


def test_history_of_no_run_of_this_python_is_played_as_it_stands(
    launched_target: Callable[..., Path],
) -> None:
    """The file is kept with the tests: each Python of the matrix plays the same one."""
    stored = Path(__file__).with_name("stored_history.json")
    target = launched_target("gateproof.reference.defects", "gateway", "revoked-until-there-is-another")
    again = gateproof("replay", stored, "--target", target)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, "failed 1 of 1 time")
    honest = gateproof("replay", stored, "--target", launched_target("gateproof.reference.gateway"))
    assert (honest.returncode, honest.stdout.splitlines()[-1]) == (0, "failed 0 of 1 time")


def test_stored_race_is_run_as_often_as_asked(launched_target: Callable[..., Path], tmp_path: Path) -> None:
    """With the schedule that it had; how often it failed is counted."""
    race, out = "CODE-10/one_code_gives_tokens_once[fresh-connections]", tmp_path / "report"
    target = launched_target("gateproof.reference.defects", "gateway", "code-marked-after-a-query")
    ran = gateproof("run", "--target", target, "--only", "CODE-10", "--seed", "3", "--out", out)
    assert ran.returncode == 1, ran.stdout
    again = gateproof("replay", out, "--check", race, "--target", target, "--times", "3")
    failed = re.fullmatch(r"failed ([1-3]) of 3 times", again.stdout.splitlines()[-1])
    assert failed, again.stdout
    assert again.returncode == 1


def test_embedded_service_is_repeated_as_it_was_called(tmp_path: Path) -> None:
    """Over MCP where the command says so; it is the service that answers, and no gateway."""
    failure = {
        **GOOD,
        "role": "service",
        "check": "CHAL-01/operation_without_a_token_gets_the_challenge",
        "command": "gateproof run service --operation mcp --seed 1",
        "repeat": {"kind": "check"},
    }
    (tmp_path / "failure.json").write_text(json.dumps(failure), encoding="utf-8")
    again = gateproof("replay", tmp_path / "failure.json")
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "failed 0 of 1 time"), again.stdout


GOOD: dict[str, Any] = {
    "schema": "gateproof/replay/1",
    "role": "gateway",
    "target": "",
    "check": CHECK,
    "seed": 1,
    "command": "gateproof run",
    "repeat": {"kind": "history", "steps": [{"do": "new Project"}, {"do": "register"}]},
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": "gateproof/replay/9"}, "expected a stored failure with the schema 'gateproof/replay/1'"),
        ({"seed": "1"}, "seed: found '1', expected a value of type int"),
        ({"check": "ROBUST-04/no_such_check"}, "this gateproof has no check ROBUST-04/no_such_check"),
        ({"role": "nobody"}, f"this gateproof has no check {CHECK} for the role nobody"),
        ({"repeat": {"kind": []}}, "repeat.kind: found [], expected a text"),
        ({"repeat": {"kind": "race", "check": "another"}}, f"repeat.check: expected {CHECK}"),
        ({"repeat": {"kind": "history", "steps": [{"do": []}]}}, "step 1: found []"),
        ({"repeat": {"kind": "dream"}}, "repeat.kind: found 'dream', which this version does not know"),
        ({"repeat": {"kind": "history", "steps": [{"do": "fly"}]}}, "step 1: found 'fly'"),
        ({"repeat": {"kind": "race", "check": CHECK}}, "expected exactly"),
        ({"repeat": {"kind": "example"}}, "repeat.value: found nothing"),
        ({"command": "gateproof 'run"}, "command: No closing quotation"),
    ],
)
def test_what_is_no_stored_failure_is_wrong_usage(
    changes: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from gateproof.conformance.cli import main  # noqa: PLC0415 - the suite is loaded by those who replay

    file = tmp_path / "failure.json"
    file.write_text(json.dumps(GOOD | changes), encoding="utf-8")
    assert main(["replay", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"gateproof: {file}: ")
    assert said in error


@pytest.mark.parametrize("name", ["missing.json", "folder", "text.json"])
def test_what_cannot_be_read_is_wrong_usage(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from gateproof.conformance.cli import main  # noqa: PLC0415

    (tmp_path / "folder").mkdir()
    (tmp_path / "text.json").write_text("no JSON")
    assert main(["replay", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
