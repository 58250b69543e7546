"""What a check did, as a verdict."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path

from conformance import rules
from conformance.check import Check
from conformance.claims import Broken, LeftOut, Tally, Unavailable, Unmet, tallying
from conformance.needs import first_missing, is_a_part
from conformance.run.bench import Bench
from conformance.signin.landing import SignInFailed
from conformance.target.control import ControlFailed, Unsupported
from conformance.wire.client import RateLimited, TargetSilent
from reports.verdicts import CheckResult, Verdict

_PACKAGE = Path(__file__).parents[1]


def judge(check_id: str, check: Check, run: Callable[[], None], bench: Bench) -> CheckResult:
    """Runs one check, unless the target lacks what it needs, and says what came of it."""
    rule = rules.load()[check.rule]
    missing = first_missing(rule, check, bench.context.capabilities)
    if missing is not None:
        reason = bench.context.missing.get(missing, f"needs {missing}")
        return CheckResult(
            id=check_id,
            rule=check.rule,
            verdict=Verdict.NOT_TESTABLE,
            message=reason,
            blocking=not is_a_part(missing, check),
        )
    started = time.monotonic()
    with tallying() as tally:
        try:
            run()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a check raises is a verdict
            verdict, texts, blocking = _meaning(error, check)
        else:
            verdict, texts = _completion(rule.level, tally)
            blocking = True
    redact = bench.redactor().text
    return CheckResult(
        id=check_id,
        rule=check.rule,
        verdict=verdict,
        blocking=blocking,
        duration_s=round(time.monotonic() - started, 4),
        observations={
            name: redact(fact) if isinstance(fact, str) else fact for name, fact in tally.observed.items()
        },
        exchanges=bench.shown() if verdict in {Verdict.FAILED, Verdict.ERROR} else (),
        **{name: redact(text) for name, text in texts.items()},
    )


def harness_error(check_id: str, check: Check, message: str) -> CheckResult:
    """A fault of the harness outside the body of a check."""
    return CheckResult(id=check_id, rule=check.rule, verdict=Verdict.ERROR, message=message)


def _completion(level: str, tally: Tally) -> tuple[Verdict, dict[str, str]]:
    """A check that came to its end has passed, if it claimed or observed anything."""
    if level == "silent":
        if tally.observed:
            return Verdict.OBSERVED, {}
        return Verdict.ERROR, {"message": "the check observed nothing"}
    if tally.expected:
        return Verdict.PASSED, {}
    return Verdict.ERROR, {"message": "the check expected nothing, so it cannot have shown anything"}


def _meaning(error: BaseException, check: Check) -> tuple[Verdict, dict[str, str], bool]:
    """The verdict, the texts and whether the rule is blocked, for what a check raised."""
    match error:
        case Unmet():
            message = (
                f"a precondition does not hold: {error.what}: expected {error.expected}, got {error.got}"
            )
            return Verdict.NOT_TESTABLE, {"message": message}, True
        case Broken():
            return (
                Verdict.FAILED,
                {
                    "message": f"{error.what}: expected {error.expected}, got {error.got}",
                    "expected": error.expected,
                    "got": error.got,
                },
                True,
            )
        case LeftOut():
            return Verdict.NOT_TESTABLE, {"message": str(error)}, False
        case Unavailable():
            return Verdict.NOT_TESTABLE, {"message": error.reason}, not is_a_part(error.need, check)
        case Unsupported():
            need = f"control:{error.action}"
            message = f"the control answered that it does not support {error.action}"
            return Verdict.NOT_TESTABLE, {"message": message}, not is_a_part(need, check)
        case RateLimited() | TargetSilent():
            return Verdict.NOT_TESTABLE, {"message": f"the target did not keep up: {error}"}, True
        case ControlFailed() | SignInFailed():
            return Verdict.ERROR, {"message": str(error)}, True
        case _:
            return Verdict.ERROR, {"message": f"the harness broke: {_where(error)}"}, True


def _where(error: BaseException) -> str:
    """An exception's type and the places it came through; its text may hold anything, so it stays out."""
    frames = [
        f"{Path(frame.filename).relative_to(_PACKAGE)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_PACKAGE)
    ]
    return f"{type(error).__name__} at {' > '.join(frames[-4:]) or 'an unknown place'}"
