"""How much of the suite a subject is put under: all of it, a case of each check, or what is known to bite."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from gateproof.conformance.checks import index, races
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.proven import proven

# The walk through all that a role is for: whatever a defect breaks, this shows whether it breaks everything.
SMOKE = {
    "gateway": ("DISC-01", "REG-01", "AUTHZ-01", "CODE-01", "REDEEM-01"),
    "service": ("META-01", "CHAL-01", "SERVE-01", "BACK-04"),
    "agent": ("AGENT-01", "AGENT-03", "AGENT-06", "AGENT-07"),
}
# In these cases a party lets others wait until their patience ends: nobody is put under them by chance.
_LONG = re.compile(r"(?<!exc)hang")
# A trial that takes so long waits for something most of the time.
_LONG_S = 10.0
# So many steps of the smoke set, and so many other checks, does a variant meet in a quick proof.
_STEPS, _SAMPLE = 2, 1
# And of so many defects one meets a step of it, drawn anew for every seed.
_ONE_IN = 3


class Effort(StrEnum):
    """How much a proof asks of every subject."""

    QUICK = "quick"
    FULL = "full"
    EVERY_CASE = "every-case"


def checks_for(subject: Subject, role: str, effort: Effort, seed: int) -> frozenset[str] | None:
    """The identifiers of the checks that a subject is put under; None for all of them.

    In a full proof a defect meets every case of every rule that it may be reported under, and one case of one
    check of each other rule, drawn anew for every seed and subject: hundreds of defects then meet every check
    many times. A variant meets everything, and variants in combination what a defect meets of other rules.
    """
    chance = random.Random(f"{seed}/{subject.kind}/{subject.name}")  # noqa: S311 - a choice, not a secret
    found = index(role)
    every = [check for checks in found.values() for check in checks]
    if effort is Effort.EVERY_CASE:
        return None
    if effort is Effort.QUICK:
        return _quick(subject, role, every, chance)
    if subject.kind == "variant" and "+" not in subject.name:
        return None
    others = [chance.choice(checks) for checks in found.values()]
    return frozenset(_own(subject, role) | set(_one_case_each(others, chance)))


def in_passing(subject: Subject, role: str, chosen: frozenset[str] | None) -> frozenset[str]:
    """Of the chosen cases those that nothing speaks for: a part of what they may generate has to do there."""
    return frozenset() if chosen is None else chosen - _own(subject, role)


def _own(subject: Subject, role: str) -> set[str]:
    """Every case of every rule that a subject may be reported under."""
    found = index(role)
    return {case for rule in subject.rules for check in found.get(rule, ()) for case in check.ids()}


def _quick(subject: Subject, role: str, every: list[Check], chance: random.Random) -> frozenset[str]:
    smoke = [[check for check in every if check.rule == rule] for rule in SMOKE[role]]
    if subject.kind == "variant":
        walk = [chance.choice(checks) for checks in chance.sample(smoke, _STEPS)]
        sample = chance.sample(every, _SAMPLE)
        if any(check.whole_run for check in sample):
            # What is looked for in all of a run has to have been on its way: at the end of the whole walk.
            walk = [chance.choice(checks) for checks in smoke]
        return frozenset(_one_case_each([*walk, *sample], chance))
    mapped = set(proven(role).closest(subject.name))
    right = [check for check in every if check.rule == subject.rules[0]]
    # What one try at it may miss: there all tries at it of the rule belong together.
    raced = {case for check in races(role) if check in right for case in check.ids()}
    if mapped & raced:
        mapped |= raced
    there = {case for check in every for case in check.ids()}
    own = {case for check in right for case in check.ids()}
    mapped &= there
    if not mapped & own:
        # Nothing is known of it, or only checks that are gone.
        mapped |= own
    # A check that is new since the proof that ships has yet to be seen failing, by whichever rule's defect.
    seen = proven(role).seen()
    mapped |= {case for case in _own(subject, role) if case.partition("[")[0] not in seen}
    if role == "agent" and mapped & {case for check in every if check.whole_run for case in check.ids()}:
        # What is looked for in all runs may show only in those that another rule of the defect makes.
        mapped |= {case for check in every if check.rule in subject.rules for case in check.ids()}
    # A defect that broke everything would fail any of the smoke set.
    steps = [chance.choice(chance.choice(smoke))] if chance.randrange(_ONE_IN) == 0 else []
    if any(mapped.intersection(check.ids()) for check in every if check.whole_run):
        steps = [chance.choice(checks) for checks in smoke]
    return frozenset([*mapped, *_one_case_each(steps, chance)])


def asks_for(need: str, subjects: Iterable[Subject], role: str, effort: Effort, seed: int) -> bool:
    """Whether one of these subjects is put under a check with this need."""
    wanted = {
        case
        for checks in index(role).values()
        for check in checks
        if need in check.needs
        for case in check.ids()
    }
    chosen = (checks_for(subject, role, effort, seed) for subject in subjects)
    return any(wanted if cases is None else wanted & cases for cases in chosen)


def longest_first(subjects: Sequence[Subject], role: str, effort: Effort, seed: int) -> list[Subject]:
    """In front those that took longest when the proof that ships was made.

    One of them that began last would keep all of a proof waiting. Of those that were quick, or are new, those
    of whom many ask at one moment come first, and then those with whom parties fail: there somebody waits.
    """
    waited_for = [
        {case for check in checks for case in check.ids()} for checks in (races(role), _with_faults(role))
    ]

    known = proven(role).defects

    def place(subject: Subject) -> tuple[float, int]:
        chosen = checks_for(subject, role, effort, seed)
        found = (number for number, cases in enumerate(waited_for) if chosen is None or cases & chosen)
        took_s = known[subject.name].took_s if subject.name in known else 0.0
        # What took a few seconds may have taken them for any reason.
        return -(took_s // _LONG_S), next(found, len(waited_for))

    return sorted(subjects, key=place)


def _with_faults(role: str) -> list[Check]:
    return [check for checks in index(role).values() for check in checks if "faults" in check.needs]


def _one_case_each(checks: Iterable[Check], chance: random.Random) -> list[str]:
    drawn = ([case for case in check.ids() if not _LONG.search(case)] for check in checks)
    return [chance.choice(cases) for cases in drawn if cases]


def rules_of(chosen: frozenset[str] | None, role: str) -> list[rules.Rule]:
    """The rules to which the chosen checks belong."""
    every = rules.load().for_role(role)
    if chosen is None:
        return list(every)
    named = {check_id.partition("/")[0] for check_id in chosen}
    return [rule for rule in every if rule.id in named]
