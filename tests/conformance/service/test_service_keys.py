"""What the gateway signs by is the operator's to say, and new keys are found by services of one kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conformance import rules
from conformance.checks.service import serve
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.ports import free_ports
from conformance.run.session import carry_out
from conformance.target.file import load
from conformance.target.model import Target
from reports.verdicts import RunResult

PROGRAM = str(Path(__file__).with_name("pinned_service.py"))
TARGET = """
[target]
role = "service"
name = "pinned"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
kind = "http"
path = "/orders"
{world}
"""


def judged(target: Target | Embedded, folder: Path, *only: str) -> RunResult:
    selected = rules.select(rules.load().for_role("service"), only)
    options = RunOptions(role="service", seed=5, only=only)
    return carry_out(target, selected, options, lambda _: None, folder / "report")


def pinned(folder: Path, algorithm: str, world: str) -> Target:
    """A launched service that takes one algorithm alone, in a world that signs by what the file says."""
    command = json.dumps([sys.executable, PROGRAM, algorithm, "--exit-with-stdin"])
    file = folder / "pinned.toml"
    file.write_text(TARGET.format(port=free_ports(1)[0], command=command, world=world))
    return load(file)


def verdicts(result: RunResult) -> dict[str, tuple[str, str]]:
    return {
        check.id.partition("/")[2]: (check.verdict.value, check.message)
        for rule in result.rules
        for check in rule.checks
    }


@pytest.mark.parametrize("algorithm", ["RS256", "EdDSA"])
def test_service_that_takes_another_algorithm_is_tested_with_it(algorithm: str, tmp_path: Path) -> None:
    target = pinned(tmp_path, algorithm, f'[world]\nalgorithm = "{algorithm}"')

    result = judged(target, tmp_path, "SERVE-0*", "CHAL-04")

    assert [rule.verdict.value for rule in result.rules] == ["passed"] * 3, verdicts(result)


def test_service_that_takes_none_of_its_tokens_is_told_of_the_setting(tmp_path: Path) -> None:
    result = judged(pinned(tmp_path, "RS256", ""), tmp_path, "SERVE-01")

    (rule,) = result.rules
    assert rule.verdict.value == "failed"
    assert 'algorithm = "RS256"' in rules.load()[rule.id].next_step


def test_key_that_is_never_found_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "FOUND_WITHIN_S", 1.0)
    program = (sys.executable, "-m", "reference.defects", "service", "keys-for-ever")

    found = verdicts(judged(Embedded(name="keys-for-ever", program=program), tmp_path, "SERVE-02"))

    assert {name: verdict for name, (verdict, _) in found.items()} == {
        "added_key_is_picked_up": "failed",
        "added_key_of_another_algorithm_is_picked_up": "failed",
        "keys_are_those_of_the_discovery_document": "passed",
    }
