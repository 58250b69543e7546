"""Verdicts: of a check, of a rule, of a run, and how each is drawn from the one below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from gateproof.reports.exchanges import Shown


class Verdict(StrEnum):
    """What is known of a check or a rule after a run."""

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
    """What a whole run says of its target."""

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
    """The levels of which a broken rule costs the target its conformance."""
    return DECIDING_LEVELS | {"rfc"} if strict else DECIDING_LEVELS


# What is observed under this name is the smallest generated input for which a claim does not hold.
EXAMPLE = "example"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """What one check found. Its texts have been through the redactor.

    ``blocking`` tells whether a not-testable check takes its rule along: it does not where only a part was
    left out that the rule does not need. ``public`` names what the redactor was allowed to show although it
    looks like a credential; ``reason``, where it is not given, is the usual one of the verdict. ``faults``
    are those that struck, each with its name, layer, hop and how often; ``replay`` repeats a failure.
    ``guilty`` is the place of the exchange that the claim is about, where it names one. ``scenario`` says
    what was done to a target that sends requests of its own: to send one of them again repeats nothing.
    ``picture`` shows the page on which a user stuck: a PNG in base64.
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
    observations: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Mapping[str, Any], ...] = ()
    replay: Mapping[str, Any] | None = None
    picture: str = ""
    exchanges: tuple[Shown, ...] = ()
    guilty: int | None = None
    scenario: str = ""
    public: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.reason:
            object.__setattr__(self, "reason", _USUAL_REASON[self.verdict])

    @property
    def what(self) -> str:
        """What the message is about, without what was expected of it."""
        return self.message.partition(": expected ")[0] if self.expected else self.message

    @property
    def question(self) -> str:
        """What the message adds to that: whether something else than the target is to blame."""
        _, found, rest = self.message.partition(f"expected {self.expected}, got {self.got}; ")
        return rest if found else ""

    @property
    def decisive(self) -> int | None:
        """The place of the exchange that the claim is about; None where it is about none.

        Where the claim does not say which, it is the last one that it names, by its step and outcome at best;
        where it names none, simply the last: a positive twin may come after what it belongs to. What a target
        did by itself may lie outside of all exchanges.
        """
        if self.guilty is not None or self.scenario or not self.exchanges:
            return self.guilty
        for names in _NAMING:
            if named := [place for place, each in enumerate(self.exchanges) if names(self, each)]:
                return named[-1]
        return len(self.exchanges) - 1


def _names_alone(check: CheckResult, shown: Shown) -> bool:
    """The finding mentions the step, and only one was called so."""
    return f"({shown.step}, " in check.got and [each.step for each in check.exchanges].count(shown.step) == 1


# How a claim names an exchange, the surest way first.
_NAMING: tuple[Callable[[CheckResult, Shown], bool], ...] = (
    lambda check, shown: shown.step == check.what and check.got in {f"status {shown.status}", shown.failure},
    lambda check, shown: shown.step == check.what,
    lambda check, shown: shown.url.partition("?")[0] in check.what.split(" "),
    _names_alone,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """What a run found of one rule, with the checks that it rests on.

    ``baselined`` is why a failure is put up with for now: the rule stays failed, and does not decide.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """Everything that a run leaves behind; every output is drawn from it."""

    role: str
    verdict: RunVerdict
    reason: str
    rules: tuple[RuleResult, ...]
    target: Mapping[str, Any]
    run: Mapping[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """How many rules ended in each verdict, with a zero for each verdict that none ended in."""
        found = Counter(rule.verdict for rule in self.rules)
        return {verdict.value: found[verdict] for verdict in Verdict}


def rule_verdict(level: str, checks: Sequence[CheckResult]) -> tuple[Verdict, str]:
    """The verdict of a rule and its reason.

    Failed outweighs error, error outweighs not-testable, and a rule of which nothing was tested has not
    passed, whatever its checks say.
    """
    for verdict in (Verdict.FAILED, Verdict.ERROR):
        found = next((check for check in checks if check.verdict is verdict), None)
        if found is not None:
            return verdict, found.message
    untested = [check for check in checks if check.verdict is Verdict.NOT_TESTABLE]
    blocked = next((check for check in untested if check.blocking), None)
    if blocked is not None:
        return Verdict.NOT_TESTABLE, blocked.message
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
    """The verdict of a run, and one sentence of reason.

    ``cut_short`` says why a run ended before its end; what failed until then has failed all the same.
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
    forgiven = [rule.id for rule in deciding if rule.baselined]
    but = f" but {len(forgiven)} that the baseline lists: {_listed(forgiven)}" if forgiven else ""
    return RunVerdict.CONFORMANT, f"{many(len(passed), 'deciding rule')} passed, none failed{but}"


def many(count: int, noun: str) -> str:
    """How many there are, as people say it."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
