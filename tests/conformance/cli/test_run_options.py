"""Options of a run come from the command line, then from the target file's table [run], then the defaults."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.cli.run_options import DEFAULTS, completed
from gateproof.conformance.cli.shards import shard
from gateproof.conformance.targets.errors import TargetError


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target.toml"


def options(target: Path, table: str, **given: object) -> argparse.Namespace:
    target.write_text(f"[run]\n{table}")
    return completed(argparse.Namespace(role=None, target=target, **given))


def test_options_of_the_file_replace_the_defaults(target: Path) -> None:
    found = options(
        target,
        """
only = ["AUTHZ-*", "CODE-*"]
workers = "auto"
seed = 3
faults = false
strict = true
quiet = false
max-minutes = 20
out = "reports/of-ci"
""",
    )

    assert (found.only, found.skip) == (["AUTHZ-*", "CODE-*"], [])
    assert (found.workers, found.seed, found.faults, found.intercept) == (None, 3, False, True)
    assert (found.strict, found.quiet, found.max_minutes) == (True, False, 20)
    assert found.out == target.parent / "reports/of-ci"


def test_command_line_wins(target: Path) -> None:
    found = options(target, 'only = ["AUTHZ-*"]\nfaults = false\n', only=["REG-01"], faults=True)

    assert (found.only, found.faults) == (["REG-01"], True)


def test_command_line_takes_back_what_the_file_asks_for(target: Path) -> None:
    found = options(target, 'skip = ["TLS-01"]\nstrict = true\n', skip=[""], strict=False)

    assert (found.skip, found.strict) == ([], False)


def test_nothing_given_gives_the_defaults() -> None:
    found = completed(argparse.Namespace(role="agent"))

    assert vars(found) == {**DEFAULTS, "role": "agent"}


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ("seeds = 3", ["[run]", "'seeds'", "'seed'"]),
        ("target = 'x'", ["[run]", "'target'"]),
        ("seed = 'x'", ["[run] seed", "'x'", "a number from 0"]),
        ("seed = [1]", ["[run] seed", "an array", "one value"]),
        ("seed = true", ["[run] seed", "a boolean"]),
        ("faults = 'no'", ["[run] faults", "a string", "true or false"]),
        ("only = 'REG-*'", ["[run] only", "a string", "an array of strings"]),
        ("only = [1]", ["[run] only", "an array of strings"]),
        ("profile = 'cii'", ["[run] profile", "'cii'", "campaign"]),
        ("shard = '3/2'", ["[run] shard", "'3/2'", "K/N"]),
        ("baseline = {}", ["[run] baseline", "a table"]),
    ],
)
def test_wrong_table_names_file_key_and_what_was_expected(target: Path, table: str, parts: list[str]) -> None:
    with pytest.raises(TargetError) as wrong:
        options(target, table)

    said = str(wrong.value)
    assert all(part in said for part in [target.name, *parts]), said


def test_run_that_is_no_table_is_an_error(target: Path) -> None:
    target.write_text("run = 3\n")
    with pytest.raises(TargetError, match="a table"):
        completed(argparse.Namespace(target=target))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4"}, "2/4"),
        ({"CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "3"}, "1/3"),
        ({"JOB_COMPLETION_INDEX": "6", "JOB_COMPLETIONS": "7"}, "7/7"),
        ({"SYSTEM_JOBPOSITIONINPHASE": "1", "SYSTEM_TOTALJOBSINPHASE": "2"}, "1/2"),
    ],
)
def test_part_comes_from_how_ci_systems_number_their_jobs(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert str(shard("auto")) == expected


@pytest.mark.parametrize(
    ("variables", "part"),
    [({}, "CI_NODE_INDEX"), ({"CI_NODE_INDEX": "5", "CI_NODE_TOTAL": "4"}, "CI_NODE_INDEX='5'")],
)
def test_part_of_no_parallel_job_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], part: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(argparse.ArgumentTypeError, match=part):
        shard("auto")


def test_a_gateway_has_its_own_origins(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "gateway", "--one-origin"]) == 2

    assert "--one-origin is for a service or an agent" in capsys.readouterr().err
