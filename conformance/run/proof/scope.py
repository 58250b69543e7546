"""The checks for a subject: all of them, a case of each check, or those known to catch it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from gateproof.conformance.checks import index, races
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.proven import proven

# The smoke set: the basic rules of a role, which fail if a defect breaks everything.
SMOKE = {
    "gateway": ("DISC-01", "REG-01", "AUTHZ-01", "CODE-01", "REDEEM-01"),
    "service": ("META-01", "CHAL-01", "SERVE-01", "BACK-04"),
    "agent": ("AGENT-01", "AGENT-03", "AGENT-06", "AGENT-07"),
}
# Cases in which a party hangs until a timeout; they are too slow to be chosen at random.
_LONG = re.compile(r"(?<!exc)hang")
# The unit in which durations of trials are compared.
_LONG_S = 10.0
# In a full proof: of so many rules, beside its own, a defect or a variant in a combination gets a case.
_OTHER_RULES = {"defect": 12, "variant": 40}
# For a variant in a quick proof: the number of smoke checks and of other checks.
_STEPS, _SAMPLE = 2, 1
# In a quick proof, one in so many defects gets a smoke check, chosen by the seed.
_ONE_IN = 3


class Effort(StrEnum):
    """How many checks a proof runs for every subject."""

    QUICK = "quick"
    FULL = "full"
    EVERY_CASE = "every-case"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The checks of a trial; all of them if None.

    `caught_before` is true if an unchanged check of the defect's right rule caught it in the shipped proof:
    then none of these checks has to fail. `still` has the unchanged checks of any rule that failed there and
    are not asked again.
    """

    asked: frozenset[str] | None
    caught_before: bool = False
    still: tuple[str, ...] = ()


def checks_for(subject: Subject, role: str, effort: Effort, seed: int) -> frozenset[str] | None:
    """The IDs of the checks for a subject; None for all of them.

    In a full proof a defect gets every case of the rules that it may be reported under, and one case of one
    check of some other rules, chosen by seed and subject. With hundreds of defects, every check runs many
    times. A combination of variants gets all checks, and so does a variant that is in none. A variant in a
    combination gets a case of some rules by itself, because other variants could hide what it breaks.
    """
    chance = random.Random(f"{seed}/{subject.kind}/{subject.name}")  # noqa: S311 - a choice, not a secret
    found = index(role)
    every = [check for checks in found.values() for check in checks]
    if effort is Effort.EVERY_CASE:
        return None
    if effort is Effort.QUICK:
        return _quick(subject, role, every, chance)
    if subject.kind == "variant" and not subject.in_a_combination:
        return None
    drawn = chance.sample(sorted(found), min(_OTHER_RULES[subject.kind], len(found)))
    others = [chance.choice(found[rule]) for rule in drawn]
    chosen = _own(subject, role) | set(_one_case_each(others, chance))
    if _has_a_whole_run(chosen, every):
        smoke = [chance.choice(checks) for checks in _smoke(role)]
        chosen |= set(_one_case_each(smoke, chance))
    return frozenset(chosen)


def in_passing(subject: Subject, role: str, chosen: frozenset[str] | None) -> frozenset[str]:
    """The chosen cases of other rules, which get only a part of the examples."""
    return frozenset() if chosen is None else chosen - _own(subject, role)


def _own(subject: Subject, role: str) -> set[str]:
    """Every case of every rule that a subject may be reported under."""
    found = index(role)
    return {case for rule in subject.rules for check in found.get(rule, ()) for case in check.ids()}


@cache
def _every_case(role: str) -> frozenset[str]:
    """Every case of every rule; asked for each of hundreds of defects."""
    return frozenset(case for checks in index(role).values() for check in checks for case in check.ids())


def _quick(subject: Subject, role: str, every: list[Check], chance: random.Random) -> frozenset[str]:
    smoke = _smoke(role)
    if subject.kind == "variant":
        walk = [chance.choice(checks) for checks in chance.sample(smoke, _STEPS)]
        sample = chance.sample(every, _SAMPLE)
        if any(check.whole_run for check in sample):
            # A check of the whole run needs a run with all smoke steps.
            walk = [chance.choice(checks) for checks in smoke]
        return frozenset(_one_case_each([*walk, *sample], chance))
    mapped = set(proven(role).closest(subject.name))
    right = [check for check in every if check.rule == subject.rules[0]]
    # A single race may miss the defect, so all races of the rule are included.
    raced = {case for check in races(role) if check in right for case in check.ids()}
    if mapped & raced:
        mapped |= raced
    own = {case for check in right for case in check.ids()}
    mapped &= _every_case(role)
    if not mapped & own:
        # The shipped proof does not have the defect, or only with checks that do not exist any more.
        mapped |= own
    # Checks that are not in the shipped proof still have to be seen to fail.
    seen = proven(role).seen()
    mapped |= {case for case in _own(subject, role) if case.partition("[")[0] not in seen}
    if role == "agent" and mapped & {case for check in every if check.whole_run for case in check.ids()}:
        # A check of all runs may need the runs of the defect's other rules.
        mapped |= {case for check in every if check.rule in subject.rules for case in check.ids()}
    # One smoke check is enough, because a defect that breaks everything fails any of them.
    steps = [chance.choice(chance.choice(smoke))] if chance.randrange(_ONE_IN) == 0 else []
    if _has_a_whole_run(mapped, every):
        steps = [chance.choice(checks) for checks in smoke]
    return frozenset([*mapped, *_one_case_each(steps, chance)])


def _smoke(role: str) -> list[list[Check]]:
    """For each rule of the smoke set, its checks."""
    found = index(role)
    return [[check for check in found[rule] if not check.whole_run] for rule in SMOKE[role]]


def _has_a_whole_run(cases: AbstractSet[str], every: Iterable[Check]) -> bool:
    """True with a check that evaluates the whole run, which then needs all smoke steps."""
    return any(not cases.isdisjoint(check.ids()) for check in every if check.whole_run)


def asks_for(need: str, subjects: Iterable[Subject], role: str, effort: Effort, seed: int) -> bool:
    """Whether one of these subjects gets a check with this need."""
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
    """The subjects, with those first that took longest in the shipped proof.

    A long trial that starts last would delay the whole proof. How long a subject takes that is not in the
    shipped proof is estimated by the checks that caught defects there. Among the fast and the new subjects,
    those with races come first, then those with faults, because these trials wait most.
    """
    waited_for = [
        {case for check in checks for case in check.ids()} for checks in (races(role), _with_faults(role))
    ]

    known = proven(role).defects
    alone_s = {caught.checks[0]: caught.took_s for caught in known.values() if caught.checks}

    def place(subject: Subject) -> tuple[float, int]:
        chosen = checks_for(subject, role, effort, seed)
        found = (number for number, cases in enumerate(waited_for) if chosen is None or cases & chosen)
        expected_s = max((alone_s.get(check_id, 0.0) for check_id in chosen or ()), default=0.0)
        took_s = known[subject.name].took_s if subject.name in known else expected_s
        # Differences of a few seconds are not significant.
        return -(took_s // _LONG_S), next(found, len(waited_for))

    return sorted(subjects, key=place)


def _with_faults(role: str) -> list[Check]:
    return [check for checks in index(role).values() for check in checks if "faults" in check.needs]


def _one_case_each(checks: Iterable[Check], chance: random.Random) -> list[str]:
    drawn = ([case for case in check.ids() if not _LONG.search(case)] for check in checks)
    return [chance.choice(cases) for cases in drawn if cases]


def rules_of(chosen: frozenset[str] | None, role: str) -> list[rules.Rule]:
    """The rules of the chosen checks."""
    every = rules.load().for_role(role)
    if chosen is None:
        return list(every)
    named = {check_id.partition("/")[0] for check_id in chosen}
    return [rule for rule in every if rule.id in named]
