"""What a run says follows from what its checks say, and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateproof.reports.symbols import RUN_SIGNS, SIGNS
from gateproof.reports.verdicts import (
    CheckResult,
    Reason,
    RuleResult,
    RunVerdict,
    Verdict,
    deciding_levels,
    rule_verdict,
    run_verdict,
)

PASSED, FAILED, ERROR = Verdict.PASSED, Verdict.FAILED, Verdict.ERROR
UNTESTED, OBSERVED = Verdict.NOT_TESTABLE, Verdict.OBSERVED
INAPPLICABLE = Verdict.NOT_APPLICABLE


def check(verdict: Verdict, *, blocking: bool = True) -> CheckResult:
    return CheckResult(id="X-01/c", rule="X-01", verdict=verdict, message="why", blocking=blocking)


def rule(verdict: Verdict, level: str = "spec", rule_id: str = "X-01") -> RuleResult:
    return RuleResult(id=rule_id, level=level, title="t", section="s", verdict=verdict)


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([check(PASSED)], PASSED),
        ([check(PASSED), check(FAILED), check(ERROR)], FAILED),
        ([check(PASSED), check(ERROR), check(UNTESTED)], ERROR),
        ([check(PASSED), check(UNTESTED)], UNTESTED),
        ([check(PASSED), check(UNTESTED, blocking=False)], PASSED),
        ([check(UNTESTED, blocking=False)], UNTESTED),
        ([check(INAPPLICABLE, blocking=False)], INAPPLICABLE),
        ([check(INAPPLICABLE, blocking=False), check(UNTESTED, blocking=False)], UNTESTED),
        ([], UNTESTED),
    ],
)
def test_verdict_of_a_rule(checks: list[CheckResult], expected: Verdict) -> None:
    assert rule_verdict("spec", checks)[0] is expected


def test_silent_rule_is_observed_and_never_passed() -> None:
    assert rule_verdict("silent", [check(OBSERVED)])[0] is OBSERVED


def test_every_verdict_but_passed_has_a_reason() -> None:
    for checks in ([check(FAILED)], [check(ERROR)], [check(UNTESTED)], []):
        assert rule_verdict("spec", checks)[1]


@pytest.mark.parametrize(
    ("rules", "strict", "certify", "expected", "code"),
    [
        ([rule(PASSED)], False, False, RunVerdict.CONFORMANT, 0),
        ([rule(PASSED), rule(FAILED)], False, False, RunVerdict.NOT_CONFORMANT, 1),
        ([rule(ERROR), rule(FAILED)], False, False, RunVerdict.NOT_CONFORMANT, 1),
        ([rule(PASSED), rule(ERROR)], False, False, RunVerdict.NO_VERDICT, 3),
        ([rule(UNTESTED)], False, False, RunVerdict.NO_VERDICT, 3),
        ([rule(UNTESTED)], False, True, RunVerdict.NO_VERDICT, 3),
        ([rule(OBSERVED, "silent")], False, False, RunVerdict.NO_VERDICT, 3),
        ([rule(PASSED), rule(UNTESTED)], False, False, RunVerdict.CONFORMANT, 0),
        ([rule(PASSED), rule(UNTESTED)], False, True, RunVerdict.INCOMPLETE, 4),
        ([rule(PASSED), rule(UNTESTED, "rfc")], False, True, RunVerdict.CONFORMANT, 0),
        ([rule(PASSED), rule(UNTESTED, "rfc")], True, True, RunVerdict.INCOMPLETE, 4),
        ([rule(PASSED), rule(FAILED, "rfc")], False, False, RunVerdict.CONFORMANT, 0),
        ([rule(PASSED), rule(FAILED, "rfc")], True, False, RunVerdict.NOT_CONFORMANT, 1),
        ([rule(PASSED), rule(ERROR, "silent")], True, False, RunVerdict.CONFORMANT, 0),
        ([rule(PASSED, "entailed")], False, False, RunVerdict.CONFORMANT, 0),
        ([rule(PASSED, "rfc")], False, False, RunVerdict.NO_VERDICT, 3),
    ],
)
def test_verdict_and_exit_code_of_a_run(
    rules: list[RuleResult], strict: bool, certify: bool, expected: RunVerdict, code: int
) -> None:
    verdict, reason = run_verdict(rules, strict=strict, certify=certify)
    assert verdict is expected
    assert verdict.exit_code == code
    assert reason


@pytest.mark.parametrize("verdict", Verdict)
def test_every_check_has_a_reason_from_the_closed_list(verdict: Verdict) -> None:
    assert isinstance(check(verdict).reason, Reason)


def test_a_reason_that_is_given_stays() -> None:
    found = CheckResult(id="X-01/c", rule="X-01", verdict=UNTESTED, reason=Reason.RATE_LIMITED)
    assert found.reason is Reason.RATE_LIMITED


def baselined(rule_id: str = "X-02") -> RuleResult:
    return replace(rule(FAILED, rule_id=rule_id), baselined="known since March")


def test_baselined_failure_stays_failed_and_does_not_decide() -> None:
    verdict, reason = run_verdict([rule(PASSED), baselined()], strict=False, certify=True)
    assert verdict is RunVerdict.CONFORMANT
    assert "1 that the baseline lists: X-02" in reason


def test_fault_of_the_baseline_outweighs_everything_that_passed() -> None:
    verdict, reason = run_verdict(
        [rule(PASSED)], strict=False, certify=False, baseline_faults=["b.toml: X-01 no longer fails"]
    )
    assert (verdict, reason) == (RunVerdict.NOT_CONFORMANT, "b.toml: X-01 no longer fails")


@pytest.mark.parametrize(
    ("found", "expected"), [(PASSED, RunVerdict.NO_VERDICT), (FAILED, RunVerdict.NOT_CONFORMANT)]
)
def test_run_that_was_cut_short_can_fail_and_cannot_pass(found: Verdict, expected: RunVerdict) -> None:
    assert run_verdict([rule(found)], strict=False, certify=False, cut_short="interrupted")[0] is expected


@pytest.mark.parametrize(
    ("level", "strict", "deciding"),
    [
        ("spec", False, True),
        ("entailed", False, True),
        ("rfc", False, False),
        ("rfc", True, True),
        ("silent", True, False),
    ],
)
def test_levels_decide(level: str, strict: bool, deciding: bool) -> None:
    assert (level in deciding_levels(strict=strict)) is deciding


def test_every_verdict_has_a_sign_of_its_own() -> None:
    assert len(set(SIGNS.values())) == len(SIGNS) == len(Verdict)
    assert len(set(RUN_SIGNS.values())) == len(RUN_SIGNS) == len(RunVerdict)
