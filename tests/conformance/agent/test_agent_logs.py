"""What stood in a log is searched, whatever became of the file; a log that is not there has shown nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance.kit.agent.logs import Logbook, logs_below
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.reports.verdicts import RuleResult

# It begins its log anew in every run, and what the first one says is nothing for a log.
FORGETFUL = """
import os, sys
from pathlib import Path
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

log, state = Path(sys.argv[1]), Path(os.environ["GATEPROOF_STATE_DIR"])
log.write_text("began\\n")

def told(step, facts):
    if step == "exchange" and not (state / "tokens.json").exists():
        log.write_text(f"token {facts['tokens']['access_token']}\\n")
sys.exit(main([], Policies(told=told)))
"""


# It says what it got in a log that grows by more than is searched closely.
FLOODING = """
import os, sys
from pathlib import Path
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

def told(step, facts):
    if step == "exchange":
        with Path(sys.argv[1]).open("a") as log:
            log.write("nothing to be seen here\\n" * 100_000)
sys.exit(main([], Policies(told=told)))
"""


def test_what_was_added_is_a_piece_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "agent.log"
    logs = Logbook([file, tmp_path / "another.log"])
    assert logs.missing() == ["agent.log", "another.log"]
    long = "x" * 10_000
    for text in ("one\n", f"one\n{long}", f"one\n{long}", f"one\n{long}two\n"):
        file.write_text(text)
        logs.look()

    first, second, third = logs.pieces()
    assert first == b"one\n"
    assert second.endswith(long.encode())
    assert third.endswith(b"xtwo\n")
    assert len(third) < 5000
    assert logs.missing() == ["another.log"]


@pytest.mark.parametrize("then", ["three\n", "", None], ids=["begun anew", "emptied", "cleared away"])
def test_text_that_is_gone_is_kept(then: str | None, tmp_path: Path) -> None:
    file = tmp_path / "agent.log"
    logs = Logbook([file])
    file.write_text("one\n")
    logs.look()
    file.unlink()
    if then is not None:
        file.write_text(then)
    logs.look()

    assert b"one\n" in logs.pieces()
    assert (then or "one\n").encode() in logs.pieces()
    assert logs.missing() == []


def test_file_that_no_run_has_touched_is_no_log_of_its(tmp_path: Path) -> None:
    stale, grown = tmp_path / "stale.log", tmp_path / "grown.log"
    stale.write_text("of another day\n")
    grown.write_text("of another day\n")
    logs = Logbook([stale, grown])
    logs.look()
    assert logs.missing() == ["stale.log", "grown.log"]
    with grown.open("a") as log:
        log.write("of today\n")
    logs.look()

    assert logs.missing() == ["stale.log"]
    assert [piece.endswith(b"of today\n") for piece in logs.pieces()] == [True]


def test_file_that_cannot_be_read_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "agent.log"
    logs = Logbook([file, tmp_path])
    file.write_text("one\n")

    def refuse(_: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    logs.look()
    assert logs.missing() == ["agent.log", tmp_path.name]
    assert logs.pieces() == []


def target(program: str, folder: Path, *arguments: str) -> Path:
    python = WARM if "gateproof" in program else (sys.executable,)
    command = json.dumps([*python, "-c", program, *arguments])
    file = folder / "agent.toml"
    file.write_text(
        f'[target]\nrole = "agent"\nname = "logs"\n[launch]\ncommand = {command}\n[logs]\nfiles = ["a.log"]\n'
    )
    return file


def judged(program: str, folder: Path, *arguments: str) -> RuleResult:
    file, only = target(program, folder, *arguments), ("AGENT-12",)
    options = RunOptions(role="agent", seed=5, only=only)
    selected = rules.select(rules.load().for_role("agent"), only)
    return carry_out(load(file), selected, options, lambda _: None, folder / "report").rules[0]


def test_token_in_a_log_that_the_next_run_overwrites_is_found(tmp_path: Path) -> None:
    rule = judged(FORGETFUL, tmp_path, str(tmp_path / "a.log"))

    assert rule.verdict.value == "failed"
    assert (
        "all runs"
        in {check.id.partition("/")[2]: check.message for check in rule.checks}["no_run_prints_a_token"]
    )


def test_log_of_many_words_is_searched_like_any(tmp_path: Path) -> None:
    rule = judged(FLOODING, tmp_path, str(tmp_path / "a.log"))

    assert rule.verdict.value == "passed"


def test_log_that_is_not_there_leaves_its_part_out(tmp_path: Path) -> None:
    rule = judged(
        "import sys; from gateproof.reference.agent.command import main; sys.exit(main([]))", tmp_path
    )

    assert rule.verdict.value == "passed"
    (left,) = [check for check in rule.checks if check.verdict.value != "passed"]
    assert "there is no log file a.log" in left.message


def test_agents_that_share_a_log_run_one_after_the_other(tmp_path: Path) -> None:
    file = target("raise SystemExit('no')", tmp_path)
    command = [*WARM, "gateproof", "run", "--target", str(file), "--only", "AGENT-12"]
    subprocess.run([*command, "--workers", "2"], cwd=tmp_path, capture_output=True, timeout=120, check=False)

    report = json.loads((tmp_path / "gateproof-report" / "report.json").read_text())
    assert report["run"]["workers"] == 1


def test_text_is_a_log_by_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    logs = {"agent.log": b"one", "logs/today.txt": b"two", "debug-log": b"three"}
    others = {"login": b"four", "catalog.txt": b"five", "000003.log": b"six", "binary.log": b"\0seven"}
    for name, content in {**logs, **others}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "away.log").symlink_to(tmp_path / "login")

    assert sorted(logs_below(tmp_path)) == sorted(logs.values())
