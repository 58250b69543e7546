"""`gateproof replay DIR --all`: repeats every failure of a run, and says which are fixed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateproof.conformance.cli.replay_once import once, result_of_check
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.replay.stored_failure import NotAFailure, Stored
from gateproof.conformance.targets.model import Target
from gateproof.reports.terminal import Screen
from gateproof.reports.verdicts import Verdict, many

# The outcomes, and the exit code for each.
FIXED, FAILING, GONE, UNKNOWN = "fixed", "still failing", "gone", "no verdict"
NO_VERDICT = 3


def repeat_all(
    found: Mapping[str, Stored | NotAFailure],
    target_of: Callable[[Stored], Target | Embedded],
    screen: Screen,
) -> int:
    """Repeats each failed check and prints the outcome; returns the exit code."""
    outcomes: Counter[str] = Counter()
    # Several failed steps may be repeated by the same check.
    known: dict[str, _Outcome] = {}
    for name, failure in found.items():
        key = f"{failure.check} {json.dumps(dict(failure.repeat))}" if isinstance(failure, Stored) else name
        if key not in known:
            known[key] = _repeated(failure, target_of)
        outcome = known[key]
        outcomes[outcome.what] += 1
        screen.say(f"{outcome.what:13}  {name}" + (f": {outcome.why}" if outcome.why else ""))
        if outcome.is_last:
            break
    if left := len(found) - outcomes.total():
        outcomes[UNKNOWN] += left
        screen.say(f"stopped; {many(left, 'failure')} not repeated")
    said = [f"{outcomes[each]} {each}" for each in (FIXED, FAILING, GONE, UNKNOWN) if outcomes[each]]
    screen.say(", ".join(said) or "nothing failed in this run")
    return 1 if outcomes[FAILING] else NO_VERDICT if outcomes[UNKNOWN] else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome:
    """The outcome for a failure; `is_last` if the repetition was stopped."""

    what: str
    why: str = ""
    is_last: bool = False


def _repeated(failure: Stored | NotAFailure, target_of: Callable[[Stored], Target | Embedded]) -> _Outcome:
    if isinstance(failure, NotAFailure):
        return _Outcome(what=GONE if failure.is_gone else UNKNOWN, why=failure.why)
    result = once(target_of(failure), failure)
    found = result_of_check(result, failure.check)
    stopped = not result.run.get("complete", True)
    if found is None:
        return _Outcome(what=UNKNOWN, why=result.reason, is_last=stopped)
    if found.verdict is Verdict.FAILED:
        return _Outcome(what=FAILING, why=found.message, is_last=stopped)
    if found.verdict is Verdict.PASSED:
        return _Outcome(what=FIXED, is_last=stopped)
    return _Outcome(what=UNKNOWN, why=found.message, is_last=stopped)
