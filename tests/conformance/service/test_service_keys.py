"""What the gateway signs by is the operator's to say, and new keys are found by services of one kind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from warm import WARM

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, result_of, written

from gateproof.conformance.checks.service import serve_keys
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import Target
from gateproof.reports.verdicts import RunResult

PROGRAM = str(Path(__file__).with_name("pinned_service.py"))


def pinned(folder: Path, algorithm: str, world: str) -> Target:
    """A launched service that takes one algorithm alone, in a world that signs by what the file says."""
    command = [*WARM, PROGRAM, algorithm, "--exit-with-stdin"]
    return load(written(folder, command, f"{HTTP}\n{world}"))


def verdicts(result: RunResult) -> dict[str, tuple[str, str]]:
    return {
        check.id.partition("/")[2]: (check.verdict.value, check.message)
        for rule in result.rules
        for check in rule.checks
    }


@pytest.mark.parametrize("algorithm", ["RS256", "EdDSA"])
def test_service_that_takes_another_algorithm_is_tested_with_it(algorithm: str, tmp_path: Path) -> None:
    target = pinned(tmp_path, algorithm, f'[world]\nalgorithm = "{algorithm}"')

    result = result_of(target, tmp_path, "SERVE-0*", "CHAL-04")

    assert [rule.verdict.value for rule in result.rules] == ["passed"] * 3, verdicts(result)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_algorithm_that_nobody_names_is_the_one_that_the_service_takes(
    algorithm: str, tmp_path: Path
) -> None:
    result = result_of(pinned(tmp_path, algorithm, ""), tmp_path, "SERVE-01", "CHAL-04")

    assert [rule.verdict.value for rule in result.rules] == ["passed"] * 2, verdicts(result)


def test_service_that_takes_none_of_its_tokens_is_told_of_the_setting(tmp_path: Path) -> None:
    target = pinned(tmp_path, "RS256", '[world]\nalgorithm = "ES256"')

    (rule,) = result_of(target, tmp_path, "SERVE-01").rules

    assert rule.verdict.value == "failed"
    assert "algorithm under [world]" in rules.load()[rule.id].next_step


def test_key_that_is_never_found_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_keys, "KEY_FOUND_S", 1.0)
    monkeypatch.setattr(serve_keys, "KEY_REFETCH_S", 1.0)
    program = (*WARM, "gateproof.reference.defects", "service", "keys-for-ever")

    found = verdicts(result_of(Embedded(name="keys-for-ever", program=program), tmp_path, "SERVE-02"))

    assert {name: verdict for name, (verdict, _) in found.items()} == {
        "added_key_is_picked_up": "failed",
        "key_that_signed_before_it_was_added_is_picked_up": "failed",
        "added_key_of_another_algorithm_is_picked_up": "failed",
        "keys_are_those_of_the_discovery_document": "passed",
    }
