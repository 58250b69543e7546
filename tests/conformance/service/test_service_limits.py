"""What a target file states of a service in [limits], and what the checks make of it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from warm import WARM

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, result_of, written

from gateproof.conformance.checks.service import back_cache
from gateproof.conformance.checks.service._failing_parties import longest_call_s
from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.kit.service.processes import PROCESSES, processes
from gateproof.conformance.kit.service.world import set_up
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import ServiceTarget
from gateproof.fakes.gateway import gateway, proxy_tokens
from gateproof.reports.verdicts import RuleResult

FIXED = "[limits]\nproxy_token_cache_s = 3000"
# The hour of these tests.
SHORT_S = 6


def service(folder: Path, kind: str, name: str, limits: str) -> ServiceTarget:
    command = [*WARM, f"gateproof.reference.{kind}", "service", name, "--exit-with-stdin"]
    target = load(written(folder, command, f"{HTTP}\n{limits}"))
    assert isinstance(target, ServiceTarget)
    return target


def in_a_campaign(target: ServiceTarget, folder: Path) -> RuleResult:
    only = ("BACK-03",)
    options = RunOptions(
        role="service", seed=5, only=only, profile="campaign", minutes=0.01, database=folder / "campaign"
    )
    selected = rules.select(rules.load().for_role("service"), only)
    result = carry_out(target, selected, options, lambda _: None, folder / "report")
    return result.rules[0]


def test_service_that_goes_by_a_fixed_time_is_not_testable_in_a_usual_run(tmp_path: Path) -> None:
    target = service(tmp_path, "defects", "proxy-token-by-a-fixed-time", FIXED)

    rule = result_of(target, tmp_path, "BACK-03").rules[0]

    assert rule.verdict == "not-testable"
    assert "--profile campaign" in rule.reason


@pytest.mark.parametrize(
    ("kind", "name", "verdict"),
    [
        ("variants", "proxy-token-by-its-lifetime-alone", "passed"),
        ("defects", "proxy-token-by-a-fixed-time", "failed"),
    ],
)
def test_campaign_waits_for_the_end_of_the_hour(
    kind: str, name: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (back_cache, gateway, proxy_tokens):
        monkeypatch.setattr(module, "PROXY_TOKEN_S", SHORT_S)

    assert in_a_campaign(service(tmp_path, kind, name, FIXED), tmp_path).verdict == verdict


@pytest.mark.parametrize(
    ("limits", "number", "seconds", "hang_s"),
    [
        ("", PROCESSES, 60.0, 90.0),
        ("[limits]\nworker_processes = 9\nlongest_call_s = 120", 9, 120.0, 150.0),
        ("[limits]\nworker_processes = 1\nlongest_call_s = 20", 1, 20.0, 90.0),
    ],
)
def test_limits_reach_the_checks(
    limits: str, number: int, seconds: float, hang_s: float, tmp_path: Path
) -> None:
    target = service(tmp_path, "variants", "one-try", limits)
    with ExitStack() as stack:
        world = set_up(target, Authority(tmp_path), stack)

        assert (processes(world), longest_call_s(world)) == (number, seconds)
        assert world.gateway.script.hang_s == hang_s


@pytest.mark.parametrize("said", ["0", "1.5", "true", "257", '"4"'])
def test_number_of_processes_is_an_integer(said: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"worker_processes.*number of processes from 1 to 256"):
        service(tmp_path, "variants", "one-try", f"[limits]\nworker_processes = {said}")


def test_launched_service_has_a_folder_for_temporary_files(tmp_path: Path) -> None:
    """The variable is set, and what is written there is found."""
    target = service(tmp_path, "defects", "proxy-token-in-a-temporary-file", "")
    rule = result_of(target, tmp_path, "BACK-13").rules[0]

    assert rule.verdict == "failed"
    assert "orders-service.cache" in rule.checks[0].message


def test_file_that_logs_names_is_another_rules(tmp_path: Path) -> None:
    target = service(tmp_path, "defects", "proxy-token-in-a-file", '[logs]\nfiles = ["cache/token.json"]')
    found = {rule.id: rule.verdict for rule in result_of(target, tmp_path, "BACK-13", "SECRET-08").rules}

    assert found == {"BACK-13": "passed", "SECRET-08": "failed"}
