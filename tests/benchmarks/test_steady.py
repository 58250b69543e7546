"""The comparison of verdicts of several runs."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict

import pytest
import steady
from steady import Seen

from gateproof.reports.verdicts import CheckResult, Verdict

STEADY = {"A-01/one": "passed", "A-01/two": "failed"}


def result(check: str, verdict: Verdict) -> CheckResult:
    return CheckResult(id=check, rule="A-01", verdict=verdict)


def test_same_verdicts_are_no_flip() -> None:
    assert steady.flips({1: STEADY, 2: dict(reversed(STEADY.items())), 3: STEADY}) == {}
    assert steady.flips({}) == {}


def test_check_with_another_verdict_in_any_run_is_a_flip() -> None:
    other = {**STEADY, "A-01/two": "passed"}

    assert steady.flips({1: STEADY, 2: other, 3: STEADY}) == {
        "A-01/two": {"1": "failed", "2": "passed", "3": "failed"}
    }


@pytest.mark.parametrize("runs", [{1: STEADY, 2: {}}, {1: {}, 2: STEADY}])
def test_check_that_one_run_lacks_is_a_flip(runs: dict[int, dict[str, str]]) -> None:
    found = steady.flips(runs)

    assert found.keys() == STEADY.keys()
    assert set(found["A-01/one"].values()) == {"passed", steady.NOT_RUN}


def test_verdicts_of_several_instances_are_one_entry_in_any_order() -> None:
    passed, failed = result("A-01/one", Verdict.PASSED), result("A-01/one", Verdict.FAILED)

    assert steady.verdicts_of([passed, failed]) == {"A-01/one": "failed and passed"}
    assert steady.verdicts_of([failed, passed]) == {"A-01/one": "failed and passed"}
    assert steady.verdicts_of([passed, passed]) == {"A-01/one": "passed"}


def test_table_names_the_check_and_the_seeds() -> None:
    changed = steady.compared("reference gateway", {7: STEADY, 8: {**STEADY, "A-01/one": "failed"}})
    same = steady.compared("defect x", {7: STEADY, 8: STEADY})

    lines = steady.drawn({"found": {"0": [asdict(same)], "10": [asdict(changed)]}}).splitlines()

    assert lines[2:] == [
        "| defect x | 0 | 2 | 2 | 1 | none |",
        "| reference gateway | 10 | 2 | 2 | 1 | `A-01/one`: passed with seed 7; failed with seed 8 |",
    ]


def test_defects_and_variants_are_found_by_kind_and_name() -> None:
    assert [each.kind for each in steady.named("gateway", ["no-single-flight"], ["http-1.0"])] == [
        "defect",
        "variant",
    ]
    with pytest.raises(ValueError, match=r"http-1\.0"):
        steady.named("gateway", ["http-1.0"], [])


def test_no_run_begins_after_the_limit() -> None:
    given = argparse.Namespace(role="gateway", only=[], first=1, seeds=3, workers=1)

    assert list(steady.seen(given, None, until=time.monotonic())) == []


def test_run_that_is_cut_short_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter([Seen(verdicts=STEADY, cut_short=""), Seen(verdicts={}, cut_short="the time is over")])
    monkeypatch.setattr(steady, "in_a_process_of_its_own", lambda *_: next(runs))
    given = argparse.Namespace(role="gateway", only=[], first=1, seeds=3, workers=1)

    found = steady.seen(given, None, until=time.monotonic() + 3600)

    assert [seed for seed, _ in found] == [1]
