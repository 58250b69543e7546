"""What a run says follows from what its checks say, and from nothing else."""

from __future__ import annotations

import pytest

from reports.verdicts import CheckResult, RuleResult, RunVerdict, Verdict, rule_verdict, run_verdict

PASSED, FAILED, ERROR = Verdict.PASSED, Verdict.FAILED, Verdict.ERROR
UNTESTED, OBSERVED = Verdict.NOT_TESTABLE, Verdict.OBSERVED


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
