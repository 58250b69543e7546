"""What a verdict is called, which sign and tone it has: a word stands wherever a sign or a colour does."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.reports.html_page.markup import text
from gateproof.reports.summary_texts import decides, is_partial
from gateproof.reports.symbols import RUN_SIGNS, SIGNS
from gateproof.reports.verdicts import RuleResult, RunResult, RunVerdict, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One way in which a rule can end, as it is shown. `name` is what filters and styles know it by."""

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
    meaning="The target broke a rule of a standard below the specification. That is a finding of its own and "
    "leaves the verdict alone; with --strict it decides.",
)
BASELINED = Kind(
    name="baselined",
    sign=SIGNS[Verdict.FAILED],
    word="failed (baselined)",
    tone="warn",
    heading="Failed, and known",
    meaning="The target broke the rule, and the baseline of this run puts up with that until a day it names.",
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
    meaning="The specification leaves this open. What the target does is written down, and not judged.",
)
PASSED = Kind(
    name="passed",
    sign=SIGNS[Verdict.PASSED],
    word="passed",
    tone="good",
    heading="Passed",
    meaning="Every check of the rule that ran held.",
)
NOT_APPLICABLE = Kind(
    name="not-applicable",
    sign=SIGNS[Verdict.NOT_APPLICABLE],
    word="not-applicable",
    tone="dim",
    heading="Not applicable",
    meaning="The rule is not about a target of this role or profile.",
)

# What was not tested stands above what passed.
KINDS = (FAILED, FINDING, BASELINED, ERROR, NOT_TESTABLE, PASSED, OBSERVED, NOT_APPLICABLE)
_BY_VERDICT = {Verdict(kind.name): kind for kind in KINDS if kind not in {FINDING, BASELINED}}

LEVELS = {
    "spec": "stated in the specification; decides",
    "entailed": "follows from what the specification states; decides",
    "rfc": "asked by a standard that the specification builds on; a finding of its own",
    "silent": "left open by the specification; written down, never judged",
}


def kind_of_check(verdict: Verdict) -> Kind:
    return _BY_VERDICT[verdict]


def kind_of(rule: RuleResult, result: RunResult) -> Kind:
    """How the rule is shown; a failure that leaves the verdict alone is told apart."""
    if rule.verdict is Verdict.FAILED and not decides(result, rule):
        return BASELINED if rule.baselined else FINDING
    return _BY_VERDICT[rule.verdict]


def badge(kind: Kind) -> str:
    return f'<span class="v {kind.tone}"><span aria-hidden=true>{kind.sign}</span> {text(kind.word)}</span>'


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A run's verdict as it is shown; the sentence takes the target's name and its role."""

    sign: str
    word: str
    tone: str
    sentence: str


def outcome_of(result: RunResult) -> Outcome:
    """How the run's verdict is shown; praise for a part of the rules is told apart from praise for all."""
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
        sentence="Nothing can be said of {name} as {role}",
    ),
}
