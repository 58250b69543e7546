"""What a rule that was tested went without is listed, with what would have brought it."""

from __future__ import annotations

import io

from gateproof.reports.terminal import parts_left_out, screen, summary
from gateproof.reports.verdicts import CheckResult, Reason, RuleResult, RunResult, Verdict, run_verdict

NO_PROXY = "needs mitmproxy: run `gateproof intercept install`"


def check(name: str, verdict: Verdict, reason: Reason = Reason.NEED_MISSING) -> CheckResult:
    message = NO_PROXY if verdict is Verdict.NOT_TESTABLE else ""
    return CheckResult(
        id=f"VAULT-10/{name}", rule="VAULT-10", verdict=verdict, reason=reason, message=message
    )


def run_of(verdict: Verdict, *checks: CheckResult) -> RunResult:
    rule = RuleResult(
        id="VAULT-10", verdict=verdict, checks=checks, reason="", level="entailed", title="", section=""
    )
    said, reason = run_verdict([rule], strict=False, certify=False)
    return RunResult(role="gateway", verdict=said, reason=reason, rules=(rule,), target={}, run={})


def test_parts_are_listed_by_what_they_lacked() -> None:
    result = run_of(
        Verdict.PASSED,
        check("one[a]", Verdict.NOT_TESTABLE),
        check("one[b]", Verdict.NOT_TESTABLE),
        check("two", Verdict.NOT_TESTABLE),
        check("three", Verdict.NOT_TESTABLE, Reason.LEFT_OUT),
        check("four", Verdict.PASSED, Reason.EXPECTATION_HELD),
    )
    out = io.StringIO()
    summary(screen(out), result)

    assert parts_left_out(result) == {NO_PROXY: {"VAULT-10/one": 2, "VAULT-10/two": 1}}
    told = " ".join(out.getvalue().split())
    listed = "VAULT-10/one (2 cases), VAULT-10/two (1 case)"
    assert f"left out of rules that were tested: {NO_PROXY}: {listed}" in told


def test_a_rule_that_was_not_tested_says_so_itself() -> None:
    assert parts_left_out(run_of(Verdict.NOT_TESTABLE, check("one", Verdict.NOT_TESTABLE))) == {}
