"""The word, sign and tone of each verdict. A sign or colour is never shown without a word."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.reports.html_page.markup import text
from gateproof.reports.summary_texts import decides, is_partial
from gateproof.reports.symbols import RUN_SIGNS, SIGNS
from gateproof.reports.verdicts import RuleResult, RunResult, RunVerdict, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One kind of result of a rule, as it is shown. Filters and styles use `name`."""

    name: str
    sign: str
    word: str
    tone: str
    heading: str
    meaning: str


FAILED = Kind(
    name="failed",
    sign=SIGNS[Verdict.FAILED],
    word="failed",
    tone="bad",
    heading="Failed",
    meaning="The target broke the rule, and that decides the verdict.",
)
FINDING = Kind(
    name="finding",
    sign=SIGNS[Verdict.FAILED],
    word="failed (rfc)",
    tone="warn",
    heading="Failed, without deciding",
    meaning="The target broke a rule of a standard below the specification. That does not change the "
    "verdict; with --strict it decides.",
)
BASELINED = Kind(
    name="baselined",
    sign=SIGNS[Verdict.FAILED],
    word="failed (baselined)",
    tone="warn",
    heading="Failed, accepted by the baseline",
    meaning="The target broke the rule, and the baseline of this run accepts that until a given date.",
)
ERROR = Kind(
    name="error",
    sign=SIGNS[Verdict.ERROR],
    word="error",
    tone="warn",
    heading="Ended in an error",
    meaning="The harness, a control action or a sign-in broke, so nothing is known of the rule.",
)
NOT_TESTABLE = Kind(
    name="not-testable",
    sign=SIGNS[Verdict.NOT_TESTABLE],
    word="not-testable",
    tone="warn",
    heading="Not tested",
    meaning="Something that the rule needs was missing. It has not passed.",
)
OBSERVED = Kind(
    name="observed",
    sign=SIGNS[Verdict.OBSERVED],
    word="observed",
    tone="info",
    heading="Observed",
    meaning="The specification leaves this open. What the target does is recorded, and not judged.",
)
PASSED = Kind(
    name="passed",
    sign=SIGNS[Verdict.PASSED],
    word="passed",
    tone="good",
    heading="Passed",
    meaning="Every check of the rule that ran has passed.",
)
NOT_APPLICABLE = Kind(
    name="not-applicable",
    sign=SIGNS[Verdict.NOT_APPLICABLE],
    word="not-applicable",
    tone="dim",
    heading="Not applicable",
    meaning="The rule is not about a target of this role or profile.",
)

# Rules that were not tested come before those that passed.
KINDS = (FAILED, FINDING, BASELINED, ERROR, NOT_TESTABLE, PASSED, OBSERVED, NOT_APPLICABLE)
_BY_VERDICT = {Verdict(kind.name): kind for kind in KINDS if kind not in {FINDING, BASELINED}}

LEVELS = {
    "spec": "stated in the specification; decides",
    "entailed": "follows from what the specification states; decides",
    "rfc": "required by a standard that the specification builds on; does not decide without --strict",
    "silent": "left open by the specification; recorded, never judged",
}


def kind_of_check(verdict: Verdict) -> Kind:
    return _BY_VERDICT[verdict]


def kind_of(rule: RuleResult, result: RunResult) -> Kind:
    """The kind for a rule; failures that do not decide have their own kinds."""
    if rule.verdict is Verdict.FAILED and not decides(result, rule):
        return BASELINED if rule.baselined else FINDING
    return _BY_VERDICT[rule.verdict]


def badge(kind: Kind) -> str:
    return f'<span class="v {kind.tone}"><span aria-hidden=true>{kind.sign}</span> {text(kind.word)}</span>'


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A run's verdict as it is shown; the sentence has placeholders for the target's name and role."""

    sign: str
    word: str
    tone: str
    sentence: str


def outcome_of(result: RunResult) -> Outcome:
    """How the run's verdict is shown; conformance in a part of the rules has its own outcome."""
    if result.verdict is RunVerdict.CONFORMANT and is_partial(result):
        return _IN_PART
    return _OUTCOMES[result.verdict]


_IN_PART = Outcome(
    sign="◐",
    word="Conformant in part",
    tone="warn",
    sentence="{name} conforms as {role} in the rules that were selected",
)
_OUTCOMES = {
    RunVerdict.CONFORMANT: Outcome(
        sign=RUN_SIGNS[RunVerdict.CONFORMANT],
        word="Conformant",
        tone="good",
        sentence="{name} conforms as {role}",
    ),
    RunVerdict.NOT_CONFORMANT: Outcome(
        sign=RUN_SIGNS[RunVerdict.NOT_CONFORMANT],
        word="Not conformant",
        tone="bad",
        sentence="{name} does not conform as {role}",
    ),
    RunVerdict.INCOMPLETE: Outcome(
        sign=RUN_SIGNS[RunVerdict.INCOMPLETE],
        word="Incomplete",
        tone="warn",
        sentence="{name} cannot be certified as {role}",
    ),
    RunVerdict.NO_VERDICT: Outcome(
        sign=RUN_SIGNS[RunVerdict.NO_VERDICT],
        word="No verdict",
        tone="warn",
        sentence="There is no verdict on {name} as {role}",
    ),
}
