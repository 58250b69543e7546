"""Detects a launched target that ends by itself during a run, and fails the check that was running then."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from gateproof.conformance.suite.steps import owners
from gateproof.reports.failed_steps import as_a_step
from gateproof.reports.verdicts import CheckResult, Reason, Verdict

# The step that is fulfilled while the target keeps running.
LIFE = "life of the process"
# Why a check has no verdict when its target is gone. Checks that were left out for other reasons stay so.
_WITHOUT_A_TARGET = {
    Reason.PRECONDITION_BROKEN,
    Reason.STEP_FAILED,
    Reason.TARGET_SILENT,
    Reason.SIGN_IN_FAILED,
    Reason.CONTROL_FAILED,
    Reason.NEVER_FIRED,
    Reason.HARNESS_BROKE,
    Reason.CLOCK_JUMPED,
}
_PAUSES_S = (0.0, 0.5, 1.0)


class EndOfTarget:
    """Finds the failure that belongs to the end of the target's last process, and that decides.

    `how_it_ended` is empty while a process of the launch is left. A launch command may end and leave the
    target running elsewhere, so the target must not answer either.
    """

    def __init__(self, how_it_ended: Callable[[], str], answers: Callable[[], bool]) -> None:
        self._how_it_ended = how_it_ended
        self._answers = answers
        self._how = ""
        self._runs_elsewhere = False
        self._counted = False

    def judged(self, result: CheckResult, *, decides: bool) -> CheckResult:
        """The result; a failure if the check has no verdict because the target has ended."""
        if self._counted or not self._has_ended():
            return result
        if not decides or (result.verdict is not Verdict.FAILED and result.reason not in _WITHOUT_A_TARGET):
            return result
        self._counted = True
        if result.verdict is Verdict.FAILED:
            return result
        said = f"; {result.message}" if result.message else ""
        return replace(
            result,
            verdict=Verdict.FAILED,
            reason=Reason.EXPECTATION_BROKEN,
            message=f"the target ended by itself: {self._how}{said}",
            expected="",
            got="",
            owner="",
        )

    def last(self) -> CheckResult | None:
        """At the end of a run: a failure, if the target has ended and no other failure counts for that."""
        if self._counted or not self._has_ended():
            return None
        rule = owners()[LIFE]
        said = f"the target ended by itself: {self._how}"
        return CheckResult(id=as_a_step(rule), rule=rule, verdict=Verdict.FAILED, message=said)

    def _has_ended(self) -> bool:
        if not self._how and not self._runs_elsewhere and (how := self._how_it_ended()):
            self._runs_elsewhere = any(self._answers_after(pause_s) for pause_s in _PAUSES_S)
            self._how = "" if self._runs_elsewhere else how
        return bool(self._how)

    def _answers_after(self, pause_s: float) -> bool:
        time.sleep(pause_s)
        return self._answers()
