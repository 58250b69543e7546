"""A launched target that ends by itself during a run: what it was being asked has failed."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.targets.launch import Running
from gateproof.reports.verdicts import CheckResult, Reason, Verdict

# Why a check has no verdict when its target is gone. Checks that were left out for other reasons stay so.
_WITHOUT_A_TARGET = {
    Reason.PRECONDITION_BROKEN,
    Reason.STEP_FAILED,
    Reason.TARGET_SILENT,
    Reason.SIGN_IN_FAILED,
    Reason.CONTROL_FAILED,
    Reason.NEVER_FIRED,
    Reason.HARNESS_BROKE,
}


class EndOfTarget:
    """Turns the first result without a verdict into a failure, once the target's last process has ended."""

    def __init__(self, running: Running | None) -> None:
        self._running = running

    def judged(self, result: CheckResult) -> CheckResult:
        """The result; a failure if the target has ended while the check ran."""
        if self._running is None or not (how := self._running.how_it_ended()):
            return result
        if result.verdict is Verdict.FAILED:
            self._running = None
        if self._running is None or result.reason not in _WITHOUT_A_TARGET:
            return result
        self._running = None
        said = f"; {result.message}" if result.message else ""
        return replace(
            result,
            verdict=Verdict.FAILED,
            reason=Reason.EXPECTATION_BROKEN,
            message=f"the target ended by itself: {how}{said}",
            expected="",
            got="",
            owner="",
        )
