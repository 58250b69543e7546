"""The verdicts of checks, rules and runs, and how each is computed from the level below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from gateproof.reports.exchanges import Shown


class Verdict(StrEnum):
    """The result of a check or a rule."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_TESTABLE = "not-testable"
    NOT_APPLICABLE = "not-applicable"
    OBSERVED = "observed"
    ERROR = "error"


class Reason(StrEnum):
    """Why a check ended in its verdict: a closed list, so that programs can count causes."""

    EXPECTATION_HELD = "expectation-held"
    EXPECTATION_BROKEN = "expectation-broken"
    OBSERVED = "observed"
    PRECONDITION_BROKEN = "precondition-broken"
    STEP_FAILED = "step-failed"
    NEED_MISSING = "need-missing"
    LEFT_OUT = "left-out"
    NO_OVERLAP = "race-did-not-overlap"
    TIMES_UNCLEAR = "times-unclear"
    CONTROL_UNSUPPORTED = "control-unsupported"
    RATE_LIMITED = "rate-limited"
    TARGET_SILENT = "target-silent"
    CONTROL_FAILED = "control-failed"
    SIGN_IN_FAILED = "sign-in-failed"
    NEVER_FIRED = "fault-never-fired"
    CLOCK_JUMPED = "clock-jumped"
    HARNESS_BROKE = "harness-broke"
    WORKER_LOST = "worker-lost"
    NOT_RUN = "not-run"


_UNSAID = cast("Reason", "")
_USUAL_REASON = {
    Verdict.PASSED: Reason.EXPECTATION_HELD,
    Verdict.FAILED: Reason.EXPECTATION_BROKEN,
    Verdict.NOT_TESTABLE: Reason.NEED_MISSING,
    Verdict.NOT_APPLICABLE: Reason.LEFT_OUT,
    Verdict.OBSERVED: Reason.OBSERVED,
    Verdict.ERROR: Reason.HARNESS_BROKE,
}


class RunVerdict(StrEnum):
    """The result of a whole run."""

    CONFORMANT = "conformant"
    NOT_CONFORMANT = "not-conformant"
    INCOMPLETE = "incomplete"
    NO_VERDICT = "no-verdict"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self]


_EXIT_CODES = {
    RunVerdict.CONFORMANT: 0,
    RunVerdict.NOT_CONFORMANT: 1,
    RunVerdict.NO_VERDICT: 3,
    RunVerdict.INCOMPLETE: 4,
}

DECIDING_LEVELS = frozenset({"spec", "entailed"})


def deciding_levels(*, strict: bool) -> frozenset[str]:
    """The levels whose rules decide whether the target is conformant."""
    return DECIDING_LEVELS | {"rfc"} if strict else DECIDING_LEVELS


# The observation with this name is the smallest generated input for which a claim does not hold.
EXAMPLE = "example"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """The result of one check. Its texts are redacted.

    ``blocking``: if this check is not testable, its rule is not testable either; false for a part that the
    rule does not need. ``public`` are names that the redactor may show although they look like credentials.
    ``waited_s`` is how long it waited, by what for: see docs/evidence.md.
    ``reason`` is by default the usual one of the verdict. ``faults`` are those that fired, with name, layer,
    hop and count. ``replay`` is what repeats a failure. ``guilty`` is the position of the exchange that the
    claim is about, if it names one. ``scenario`` says what was done to a target that sends the requests
    itself; sending one of its requests again would repeat nothing. ``picture`` is a screenshot of the page on
    which a sign-in got stuck, a PNG in base64. ``owner`` is the rule of the step that failed in this check;
    a record does not have it, but a result of that rule.
    """

    id: str
    rule: str
    verdict: Verdict
    reason: Reason = _UNSAID
    message: str = ""
    expected: str = ""
    got: str = ""
    blocking: bool = True
    duration_s: float = 0.0
    waited_s: Mapping[str, float] = field(default_factory=dict)
    observations: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Mapping[str, Any], ...] = ()
    replay: Mapping[str, Any] | None = None
    picture: str = ""
    exchanges: tuple[Shown, ...] = ()
    guilty: int | None = None
    scenario: str = ""
    public: tuple[str, ...] = ()
    owner: str = ""

    def __post_init__(self) -> None:
        if not self.reason:
            object.__setattr__(self, "reason", _USUAL_REASON[self.verdict])

    @property
    def what(self) -> str:
        """The subject of the message, without the expectation."""
        return self.message.partition(": expected ")[0] if self.expected else self.message

    @property
    def question(self) -> str:
        """The addition to the message: a question whether the cause is outside of the target."""
        _, found, rest = self.message.partition(f"expected {self.expected}, got {self.got}; ")
        return rest if found else ""

    @property
    def decisive(self) -> int | None:
        """The position of the exchange that the claim is about; None if there is no such exchange.

        If the claim does not give it, this is the last exchange that the message names, preferably by step
        and outcome, else the last exchange. Names come first because a positive twin may follow the decisive
        exchange. What a launched target did may be in no exchange.
        """
        if self.guilty is not None or self.scenario or not self.exchanges:
            return self.guilty
        for names in _NAMING:
            if named := [place for place, each in enumerate(self.exchanges) if names(self, each)]:
                return named[-1]
        return len(self.exchanges) - 1


def _names_alone(check: CheckResult, shown: Shown) -> bool:
    """The finding mentions the step, and only one step has this name."""
    return f"({shown.step}, " in check.got and [each.step for each in check.exchanges].count(shown.step) == 1


# Ways in which a claim names an exchange, the most reliable first.
_NAMING: tuple[Callable[[CheckResult, Shown], bool], ...] = (
    lambda check, shown: shown.step == check.what and check.got in {f"status {shown.status}", shown.failure},
    lambda check, shown: shown.step == check.what,
    lambda check, shown: shown.url.partition("?")[0] in check.what.split(" "),
    _names_alone,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """The result of one rule, with its checks.

    ``baselined`` is the baseline's reason for accepting a failure: the rule stays failed, and does not
    decide.
    """

    id: str
    level: str
    title: str
    section: str
    verdict: Verdict
    holds: str = ""
    why: str = ""
    standard: str = ""
    reason: str = ""
    baselined: str = ""
    checks: tuple[CheckResult, ...] = ()

    @property
    def failing(self) -> int:
        """The number of checks that failed."""
        return sum(check.verdict is Verdict.FAILED for check in self.checks)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """The result of a run, from which every output is generated."""

    role: str
    verdict: RunVerdict
    reason: str
    rules: tuple[RuleResult, ...]
    target: Mapping[str, Any]
    run: Mapping[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rules by verdict, including zeros."""
        found = Counter(rule.verdict for rule in self.rules)
        return {verdict.value: found[verdict] for verdict in Verdict}


def rule_verdict(level: str, checks: Sequence[CheckResult]) -> tuple[Verdict, str]:
    """The verdict of a rule and its reason.

    Failed has priority over error, and error over not-testable. A rule of which nothing was tested has not
    passed.
    """
    for verdict in (Verdict.FAILED, Verdict.ERROR):
        found = next((check for check in checks if check.verdict is verdict), None)
        if found is not None:
            return verdict, found.message
    untested = [check for check in checks if check.verdict is Verdict.NOT_TESTABLE]
    blocked = next((check for check in untested if check.blocking), None)
    if blocked is not None:
        return Verdict.NOT_TESTABLE, blocked.message
    if checks and all(check.verdict is Verdict.NOT_APPLICABLE for check in checks):
        return Verdict.NOT_APPLICABLE, checks[0].message
    if not any(check.verdict in {Verdict.PASSED, Verdict.OBSERVED} for check in checks):
        return Verdict.NOT_TESTABLE, untested[0].message if untested else "no check exists for this rule yet"
    return (Verdict.OBSERVED if level == "silent" else Verdict.PASSED), ""


def run_verdict(
    rules: Iterable[RuleResult],
    *,
    strict: bool,
    certify: bool,
    cut_short: str = "",
    baseline_faults: Sequence[str] = (),
) -> tuple[RunVerdict, str]:
    """The verdict of a run, and its reason in one sentence.

    ``cut_short`` says why a run did not finish; failures until then count.
    """
    deciding = [rule for rule in rules if rule.level in deciding_levels(strict=strict)]

    def of(verdict: Verdict) -> list[str]:
        return [rule.id for rule in deciding if rule.verdict is verdict and not rule.baselined]

    failed = of(Verdict.FAILED)
    if failed or baseline_faults:
        said = [f"{many(len(failed), 'deciding rule')} failed: {_listed(failed)}"] if failed else []
        return RunVerdict.NOT_CONFORMANT, "; ".join([*said, *baseline_faults])
    if cut_short:
        return RunVerdict.NO_VERDICT, cut_short
    if broken := of(Verdict.ERROR):
        return (
            RunVerdict.NO_VERDICT,
            f"{many(len(broken), 'deciding rule')} ended in an error: {_listed(broken)}",
        )
    passed = of(Verdict.PASSED)
    if not passed:
        return RunVerdict.NO_VERDICT, "no deciding rule was tested"
    untested = of(Verdict.NOT_TESTABLE)
    if certify and untested:
        what = many(len(untested), "deciding rule")
        return RunVerdict.INCOMPLETE, f"nothing failed, but {what} could not be tested: {_listed(untested)}"
    forgiven = [f"{rule.id} ({many(rule.failing, 'check')})" for rule in deciding if rule.baselined]
    but = f" but {len(forgiven)} that the baseline lists: {_listed(forgiven)}" if forgiven else ""
    return RunVerdict.CONFORMANT, f"{many(len(passed), 'deciding rule')} passed, none failed{but}"


def many(count: int, noun: str) -> str:
    """The number with the noun in singular or plural."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
