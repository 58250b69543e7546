"""All failures of a run are repeated with one command, and one of them can be looked at while it lasts."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.cli.replay_all import repeat_all
from gateproof.conformance.run.context.embedded import Embedded, embedded_reference
from gateproof.conformance.run.replay.stored_failure import NotAFailure, Stored
from gateproof.conformance.targets.model import OwnParties
from gateproof.reports.terminal import screen

DEFECT = ("gateproof.reference.defects", "gateway", "discovery-is-a-list")
HONEST = ("gateproof.reference.gateway",)
Launched = Callable[..., Path]
FAILURE = Stored(
    role="gateway",
    target="",
    check="DISC-01/answers_200_with_a_json_object",
    seed=1,
    command=("gateproof", "run"),
    repeat={"kind": "check"},
)


@pytest.fixture
def failed(launched_target: Launched, tmp_path: Path) -> Path:
    """The folder of a run in which DISC-01 failed."""
    out = tmp_path / "report"
    command = ["run", "--target", str(launched_target(*DEFECT)), "--only", "DISC-01", "--out", str(out)]
    assert main([*command, "--quiet"]) == 1
    return out


def checks_that_failed(out: Path) -> set[str]:
    report = json.loads((out / "report.json").read_text())
    return {
        check["id"] for rule in report["rules"] for check in rule["checks"] if check["verdict"] == "failed"
    }


@pytest.mark.parametrize(("program", "outcome", "code"), [(DEFECT, "still failing", 1), (HONEST, "fixed", 0)])
def test_each_failure_is_fixed_or_fails_still(
    program: tuple[str, ...],
    outcome: str,
    code: int,
    failed: Path,
    launched_target: Launched,
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    assert main(["replay", str(failed), "--all", "--target", str(launched_target(*program))]) == code
    said = capsys.readouterr().out
    ids = checks_that_failed(failed)
    assert said.splitlines()[-1] == f"{len(ids)} {outcome}"
    assert set(re.findall(rf"^{outcome} +([^\s:]+)", said, re.MULTILINE)) == ids


def test_failures_of_another_version_are_gone_and_those_of_a_whole_run_are_named() -> None:
    said = StringIO()
    gone = {"X-01/a": NotAFailure("this gateproof has no such check", where="out", is_gone=True)}
    of_a_run = {"SECRET-05/b": NotAFailure("repeat the run with gateproof run", where="out")}
    shown = screen(said, no_color=True)
    assert repeat_all(gone, lambda _: embedded_reference("gateway"), shown) == 0
    assert repeat_all(gone | of_a_run, lambda _: embedded_reference("gateway"), shown) == 3
    assert said.getvalue().splitlines() == [
        "gone           X-01/a: this gateproof has no such check",
        "1 gone",
        "gone           X-01/a: this gateproof has no such check",
        "no verdict     SECRET-05/b: repeat the run with gateproof run",
        "1 gone, 1 no verdict",
    ]


def test_same_failure_is_repeated_once() -> None:
    """Two steps that failed in one check are two lines and one repetition."""
    said, asked = StringIO(), list[Stored]()

    def target_of(failure: Stored) -> Embedded:
        asked.append(failure)
        return embedded_reference("gateway")

    found = {"REG-01/as_a_step": FAILURE, "CODE-01/as_a_step": FAILURE}
    assert repeat_all(found, target_of, screen(said, no_color=True)) == 0
    assert said.getvalue().splitlines()[-1] == "2 fixed"
    assert len(asked) == 1


@pytest.mark.parametrize("beside", [["--times", "2"], ["--hold"], ["--check", "X"]])
def test_all_goes_with_nothing_that_is_for_one(
    beside: list[str], failed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(failed), "--all", *beside]) == 2
    assert f"leave out {beside[0]}" in capsys.readouterr().err


def test_failure_is_repeated_with_the_own_parties_of_its_run() -> None:
    options = ("--one-origin", "--names", "agents.test", "--deviate", "a", "--deviate", "b", "--seed", "7")
    parties = replace(FAILURE, command=("gateproof", "run", "agent", *options)).own_parties()
    assert parties == OwnParties(one_origin=True, names="agents.test", deviations=("a", "b"))
    assert FAILURE.own_parties() == OwnParties()


def test_target_is_held_as_the_failure_left_it(
    failed: Path, launched_target: Launched, tmp_path: Path
) -> None:
    check = min(checks_that_failed(failed))
    command = [sys.executable, "-m", "gateproof", "replay", str(failed), "--check", check, "--hold"]
    process = subprocess.Popen(
        [*command, "--target", str(launched_target(*DEFECT))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = "".join(until("Ctrl-C ends it", process.stdout))
        base_url = re.search(r"^BASE_URL=(\S+)", said, re.MULTILINE)
        assert base_url, said
        assert re.search(r"^CA_FILE=/", said, re.MULTILINE)
        assert 'curl -sS -i \\\n  --cacert "${CA_FILE}"' in said
        parts = urlsplit(base_url[1])
        address = (parts.hostname, parts.port)
        socket.create_connection(address, timeout=10).close()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(60) == 1, rest
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()
    assert "failed 1 of 1 time" in rest
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=10)


def until(last: str, lines: IO[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if last in line:
            return
