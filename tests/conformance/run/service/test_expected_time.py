"""How long a run against a service will take is told at its start, and by doctor."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "service"))
from services import HTTP, written

from gateproof.conformance.checks import index
from gateproof.conformance.cli import main
from gateproof.conformance.cli.run import _expected
from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.service.expected_time import ExpectedTime, expected_time
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load

SELDOM = str(Path(__file__).parents[2] / "service" / "seldom_service.py")
ALL = [check for found in index("service").values() for check in found]
END_OF_A_TOKEN_S = 95.0


def test_run_takes_as_long_as_the_longest_fixed_wait() -> None:
    for workers in (1, 2, 8):
        assert expected_time(ALL, workers=workers).usual_s > END_OF_A_TOKEN_S
    without = [check for check in ALL if check.rule != "BACK-03"]
    assert expected_time(without, workers=8).usual_s > END_OF_A_TOKEN_S
    assert expected_time(without[:10], workers=1).usual_s < END_OF_A_TOKEN_S


def test_service_that_fetches_seldom_takes_longer_and_workers_share_its_waits() -> None:
    one, two, eight = (expected_time(ALL, workers=workers) for workers in (1, 2, 8))

    assert one.seldom_s > 2 * one.usual_s
    assert one.seldom_s > two.seldom_s > eight.seldom_s


def test_what_is_left_out_and_a_rate_count() -> None:
    whole = expected_time(ALL, workers=1)

    assert expected_time(ALL, ["faults"], workers=1).seldom_s < whole.seldom_s
    assert expected_time(ALL, workers=1, rate=5).usual_s > 2 * whole.usual_s


@pytest.mark.parametrize(
    ("usual_s", "seldom_s", "seldom", "words"),
    [
        (20.0, 50.0, None, ""),
        (20.0, 300.0, False, ""),
        (20.0, 300.0, True, "expected to take about 5 minutes"),
        (100.0, 300.0, False, "expected to take about 2 minutes"),
        (100.0, 110.0, None, "expected to take about 2 minutes"),
        (70.0, 80.0, None, "expected to take about a minute"),
        (
            20.0,
            80.0,
            None,
            (
                "expected to take less than a minute, or about a minute if the service fetches its keys twice"
                " a minute at most"
            ),
        ),
    ],
)
def test_words_are_short_and_only_there_for_a_long_run(
    usual_s: float, seldom_s: float, seldom: bool | None, words: str
) -> None:
    assert ExpectedTime(usual_s=usual_s, seldom_s=seldom_s).in_words(seldom=seldom) == words


def test_run_tells_both_figures_of_a_service_that_is_not_known(tmp_path: Path) -> None:
    service = rules.load().for_role("service")
    target = load(written(tmp_path, ["service"], HTTP))

    assert " minutes, or about " in _expected(target, service, RunOptions(role="service", seed=1))
    one = [rule for rule in service if rule.id == "META-01"]
    assert _expected(target, one, RunOptions(role="service", seed=1)) == ""


def test_run_knows_the_embedded_service() -> None:
    embedded = embedded_reference("service", "http")

    told = _expected(embedded, rules.load().for_role("service"), RunOptions(role="service", seed=1))

    assert told == "expected to take about 2 minutes"


@pytest.mark.parametrize(("seconds", "minutes"), [("30", 6), ("0", 2)])
def test_doctor_says_it_of_the_service_that_it_has_called(
    seconds: str, minutes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, [sys.executable, SELDOM, seconds, "--exit-with-stdin"], HTTP)

    assert main(["doctor", "--target", str(file)]) == 0
    assert f"a run is expected to take about {minutes} minutes\n" in capsys.readouterr().out

    assert main(["doctor", "--target", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expected"] == f"expected to take about {minutes} minutes"
