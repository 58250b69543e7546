"""Runs a check and turns what it did into a verdict."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.drive.wall_clock import WallClock
from gateproof.conformance.run.drive.where import where
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.claims import (
    Broken,
    LeftOut,
    NeverFired,
    NoOverlap,
    NotApplicable,
    Tally,
    TimesUnclear,
    Unavailable,
    Unmet,
    tallying,
)
from gateproof.conformance.suite.generated_input import KIND as EXAMPLE
from gateproof.conformance.suite.needs import first_missing, is_optional
from gateproof.conformance.suite.pauses import Cause, counting_pauses
from gateproof.conformance.targets.control import ControlFailed, Refused, Unsupported
from gateproof.conformance.targets.doubts import target_file_hint
from gateproof.conformance.targets.launch import LaunchFailed
from gateproof.conformance.targets.model import Target
from gateproof.conformance.wire.client import RateLimited, TargetSilent
from gateproof.conformance.wire.connections import Unsendable
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.exhausted import Exhausted
from gateproof.conformance.wire.rate_limit import TooManyAtOnce
from gateproof.reports import redacted_parts
from gateproof.reports.exchanges import Shown
from gateproof.reports.failed_steps import unmet
from gateproof.reports.redaction import Redactor
from gateproof.reports.verdicts import CheckResult, Reason, Verdict

_UNDECIDED_REASONS: dict[type[BaseException], Reason] = {
    NoOverlap: Reason.NO_OVERLAP,
    TimesUnclear: Reason.TIMES_UNCLEAR,
}
FAULTS = "faults"
_ERROR_REASONS = {
    NeverFired: Reason.NEVER_FIRED,
    ControlFailed: Reason.CONTROL_FAILED,
    SignInFailed: Reason.SIGN_IN_FAILED,
    LaunchFailed: Reason.HARNESS_BROKE,
    Exhausted: Reason.HARNESS_BROKE,
}
_between_checks = WallClock()


class CheckContext(Protocol):
    """Where a check is carried out: its context, and the redacted exchanges of the check."""

    @property
    def context(self) -> Context: ...

    def redactor(self) -> Redactor: ...

    def shown(self, redactor: Redactor, /, *, in_full: bool) -> tuple[Shown, ...]: ...

    def place_of(self, exchange: Exchange, /) -> int | None:
        """The position of the exchange in the shown ones."""

    def owns_steps(self) -> bool:
        """False if steps may fail for reasons outside of the target."""

    def waited_s(
        self, *, took_s: float, computed_s: float, paused_s: Mapping[Cause, float]
    ) -> Mapping[str, float]:
        """What the check waited for, if it took, computed and paused so long."""

    def scenario(self) -> str:
        """What was done to a target that sends requests itself; empty for one that answers them."""


def judge(check_id: str, check: Check, run: Callable[[], None], bench: CheckContext) -> CheckResult:
    """Runs one check if the target meets its needs, and returns the result."""
    rule = rules.load()[check.rule]
    missing = first_missing(rule, check, bench.context.capabilities)
    if missing is not None:
        message = bench.context.missing.get(missing, f"needs {missing}")
        return CheckResult(
            id=check_id,
            rule=check.rule,
            verdict=Verdict.NOT_TESTABLE,
            reason=Reason.NEED_MISSING,
            message=message,
            blocking=not is_optional(missing, check),
        )
    _between_checks.settle()
    started, computed, clock = time.monotonic(), time.process_time(), WallClock()
    guilty: Exchange | None = None
    owner = ""
    with tallying() as tally, counting_pauses() as paused_s:
        try:
            run()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a check raises is a verdict
            if isinstance(error, Broken) and (FAULTS in check.needs or not bench.owns_steps()):
                error.owner = ""
            verdict, reason, texts, blocking = _meaning(error, check, bench.context.target)
            if isinstance(error, Broken):
                guilty = error.exchange
                owner = error.owner if reason is Reason.STEP_FAILED else ""
        else:
            verdict, reason, texts = _completion(rule.level, tally)
            blocking = True
    if (jumped_s := clock.jumped_s()) and verdict is not Verdict.NOT_APPLICABLE:
        verdict, reason, texts = Verdict.ERROR, Reason.CLOCK_JUMPED, {"message": _jumped(jumped_s)}
        guilty, owner, blocking = None, "", True
    took_s = time.monotonic() - started
    computed_s = time.process_time() - computed
    waited_s = bench.waited_s(took_s=took_s, computed_s=computed_s, paused_s=paused_s)
    redactor = bench.redactor()
    redact = redactor.text
    exchanges = bench.shown(redactor, in_full=bool(owner) or verdict in {Verdict.FAILED, Verdict.ERROR})
    return CheckResult(
        id=check_id,
        rule=check.rule,
        verdict=verdict,
        reason=reason,
        blocking=blocking,
        duration_s=round(took_s, 4),
        waited_s=waited_s,
        observations={
            **{
                name: redact(fact) if isinstance(fact, str) else fact for name, fact in tally.observed.items()
            },
            **(_attached(tally, redactor) if verdict is Verdict.FAILED else {}),
        },
        faults=tuple(
            {"name": fault.name, "layer": fault.layer.value, "hop": fault.hop.value, "fired": times}
            for fault, times in tally.fired.items()
        ),
        replay=_replay(tally, redactor) if verdict is Verdict.FAILED else None,
        exchanges=exchanges,
        guilty=bench.place_of(guilty) if exchanges and guilty is not None else None,
        scenario=redact(bench.scenario()) if verdict in {Verdict.FAILED, Verdict.ERROR} else "",
        public=tuple(sorted(redactor.public)),
        owner=owner,
        **{name: redact(text) for name, text in texts.items()},
    )


def harness_error(check_id: str, check: Check, message: str) -> CheckResult:
    """The result for an error of the harness outside of the check itself."""
    return CheckResult(
        id=check_id, rule=check.rule, verdict=Verdict.ERROR, reason=Reason.HARNESS_BROKE, message=message
    )


def _completion(level: str, tally: Tally) -> tuple[Verdict, Reason, dict[str, str]]:
    """A check that ended has passed if it had a claim or an observation."""
    if level == "silent":
        if tally.observed:
            return Verdict.OBSERVED, Reason.OBSERVED, {}
        return Verdict.ERROR, Reason.HARNESS_BROKE, {"message": "the check observed nothing"}
    if tally.expected:
        return Verdict.PASSED, Reason.EXPECTATION_HELD, {}
    message = "the check made no claim, so it shows nothing"
    return Verdict.ERROR, Reason.HARNESS_BROKE, {"message": message}


def _meaning(
    error: BaseException, check: Check, target: Target
) -> tuple[Verdict, Reason, dict[str, str], bool]:
    """The verdict, reason and texts for an exception of a check, and whether the rule is blocked."""
    untested, broke = Verdict.NOT_TESTABLE, Verdict.ERROR
    match error:
        case Unmet() if error.owner != check.rule:
            return untested, *_precondition(error, target), True
        case Broken():
            texts = {"message": _claim_text(error, target), **_compared(error)}
            return Verdict.FAILED, Reason.EXPECTATION_BROKEN, texts, True
        case (
            LeftOut()
            | NotApplicable()
            | Refused()
            | Unsendable()
            | TooManyAtOnce()
            | NoOverlap()
            | TimesUnclear()
        ):
            verdict = Verdict.NOT_APPLICABLE if isinstance(error, NotApplicable) else untested
            why = _UNDECIDED_REASONS.get(type(error), Reason.LEFT_OUT)
            return verdict, why, {"message": str(error)}, False
        case Unavailable():
            blocking = not is_optional(error.need, check)
            return untested, Reason.NEED_MISSING, {"message": error.reason}, blocking
        case Unsupported():
            said = f"the control answered that it does not support {error.action}"
            blocking = not is_optional(f"control:{error.action}", check)
            return untested, Reason.CONTROL_UNSUPPORTED, {"message": said}, blocking
        case RateLimited() | TargetSilent():
            cause = Reason.RATE_LIMITED if isinstance(error, RateLimited) else Reason.TARGET_SILENT
            return untested, cause, {"message": f"the target did not keep up: {error}"}, True
        case NeverFired() | ControlFailed() | SignInFailed() | LaunchFailed() | Exhausted():
            return broke, _ERROR_REASONS[type(error)], {"message": str(error)}, True
        case _:
            return broke, Reason.HARNESS_BROKE, {"message": f"the harness broke: {where(error)}"}, True


def _jumped(seconds: float) -> str:
    way = "forward" if seconds > 0 else "back"
    return (
        f"the clock of this machine was set {way} by {abs(seconds):.0f} s while the check ran, so that "
        "what it saw shows nothing: run again when the clock is steady"
    )


def _precondition(error: Unmet, target: Target) -> tuple[Reason, dict[str, str]]:
    message = {"message": unmet(_claim_text(error, target), error.owner)}
    if not error.owner:
        return Reason.PRECONDITION_BROKEN, message
    return Reason.STEP_FAILED, message | _compared(error)


def _compared(error: Broken) -> dict[str, str]:
    return {"expected": error.expected, "got": error.got}


def _attached(tally: Tally, redactor: Redactor) -> dict[str, str]:
    """The documents that a failure is about, with each value redacted separately."""
    return {
        name: redacted_parts.body(json.dumps(document, ensure_ascii=False, default=repr), redactor)
        for name, document in tally.attached.items()
    }


def _replay(tally: Tally, redactor: Redactor) -> dict[str, Any] | None:
    """The replay data of the failure, as redacted JSON values.

    None for an example that redaction has changed: it would not repeat the failure, but its seed does.
    """
    if tally.replay is None:
        return None
    stored = json.loads(json.dumps(tally.replay, default=repr))
    redacted: dict[str, Any] = redacted_parts.values(stored, redactor)
    if tally.replay["kind"] == EXAMPLE and redacted["value"] != tally.replay["value"]:
        return None
    return redacted


def _claim_text(error: Broken, target: Target) -> str:
    """The claim that does not hold, with a question about the target file if that may be the cause."""
    question = target_file_hint(target, error)
    said = f"{error.what}: expected {error.expected}, got {error.got}"
    return f"{said}; {question}" if question else said
