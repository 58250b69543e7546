"""What has to be tried again since the shipped proof, and which of its results still hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.checks import index
from gateproof.conformance.run.proof import source_digests
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.run.proof.scope import SMOKE, Effort, Part, checks_for
from gateproof.conformance.run.proof.source_digests import MadeOf
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.proven import Proven, proven
from gateproof.reports.verdicts import many

_KINDS = ("defect", "variant")


@dataclass(frozen=True, kw_only=True, slots=True)
class Since:
    """What is left to try, the subjects whose results still hold, and the checks seen to fail there."""

    shipped: str
    why: str
    left: Mapping[Subject, Part]
    carried: tuple[Subject, ...] = ()
    seen: frozenset[str] = frozenset()

    def as_json(self) -> dict[str, Any]:
        """The part of prove.json about the shipped proof."""
        carried = {kind: [each.name for each in self.carried if each.kind == kind] for kind in _KINDS}
        return {"proof": self.shipped, "why": self.why, "carried": carried}


def since_the_shipped(role: str, found: Sequence[Subject], effort: Effort, seed: int) -> Since:
    """Compares with the shipped proof; raises ValueError if that has no digests or other parameters."""
    shipped = proven(role)
    if shipped.made_of is None:
        raise ValueError(f"the shipped proof of {role}s does not say what it was made of: leave out --since")
    if effort is Effort.EVERY_CASE or shipped.seed != seed:
        raise ValueError(
            f"the shipped proof has seed {shipped.seed} and not every case: leave out --since, or give it"
        )
    before = MadeOf(**shipped.made_of)
    if before.common != source_digests.made_of(role).common:
        everything = {each: Part(asked=checks_for(each, role, effort, seed)) for each in found}
        return Since(
            shipped=shipped.digest,
            why="what every trial depends on has changed: all are tried",
            left=everything,
        )
    unchanged = source_digests.unchanged_checks(role, before)
    count = sum(_name(check) not in unchanged for checks in index(role).values() for check in checks)
    parts = {each: _part(each, role, effort, seed, shipped, before, unchanged) for each in found}
    left = {each: part for each, part in parts.items() if part is not None}
    return Since(
        shipped=shipped.digest,
        why=f"{many(count, 'check')} changed; {len(found) - len(left)} of {len(found)} need no new trial",
        left=left,
        carried=tuple(each for each in found if each not in left),
        seen=_seen(found, shipped, before) & unchanged,
    )


def _part(
    subject: Subject,
    role: str,
    effort: Effort,
    seed: int,
    shipped: Proven,
    before: MadeOf,
    unchanged: frozenset[str],
) -> Part | None:
    """The checks to run again for one subject; None if nothing that its trial depends on has changed."""
    chosen = checks_for(subject, role, effort, seed)
    if not _was_tried(subject, shipped) or not source_digests.is_as_before(subject, before):
        return Part(asked=chosen)
    every = [check for checks in index(role).values() for check in checks]
    full = {case for check in every for case in check.ids()} if chosen is None else chosen
    # If a rule has a changed or new check, the draw may choose another check of this rule than before.
    rules = {check.rule for check in every if _name(check) not in unchanged}
    again = {case for case in full if case.partition("/")[0] in rules}
    caught = _caught_still(subject, shipped, unchanged)
    if not caught:
        again |= {case for case in full if case.startswith(f"{subject.rules[0]}/")}
    if not again:
        return None
    # A check of the whole run evaluates what all others do. If it changed, all checks run. If others changed,
    # it runs as well, after the basic checks.
    whole = {case for check in every if check.whole_run for case in check.ids()}
    if again & {case for case in whole if _function(case) not in unchanged}:
        return Part(asked=chosen)
    basic = tuple(f"{rule}/" for rule in SMOKE[role])
    again |= {case for case in full if case in whole or case.startswith(basic)}
    known = shipped.defects[subject.name].checks if subject.kind == "defect" else ()
    still = tuple(case for case in known if _function(case) in unchanged and case not in again)
    return Part(asked=frozenset(again), caught_before=caught, still=still)


def _seen(found: Sequence[Subject], shipped: Proven, before: MadeOf) -> frozenset[str]:
    """The checks that failed in the shipped proof on defects that have not changed."""
    still = [each for each in found if each.kind == "defect" and _was_tried(each, shipped)]
    kept = [each for each in still if source_digests.is_as_before(each, before)]
    return frozenset(_function(case) for each in kept for case in shipped.defects[each.name].checks)


def _was_tried(subject: Subject, shipped: Proven) -> bool:
    """True if the full proof tried the subject with the rules that it declares now, and as many checks."""
    if subject.combined:
        return short_name(subject) in shipped.combined
    if subject.kind == "variant":
        return subject.name in (shipped.variants if subject.in_a_combination else shipped.alone)
    known = shipped.defects.get(subject.name)
    return known is not None and subject.name not in shipped.later and known.rules == subject.rules


def _caught_still(subject: Subject, shipped: Proven, unchanged: frozenset[str]) -> bool:
    """True if an unchanged check of the right rule caught the defect; always true for a variant."""
    if subject.kind == "variant":
        return True
    right = f"{subject.rules[0]}/"
    return any(
        case.startswith(right) and _function(case) in unchanged
        for case in shipped.defects[subject.name].checks
    )


def short_name(combination: Subject) -> str:
    """A short ID of a combination for the shipped proof, where its name would take much space."""
    return source_digests.short(combination.name.encode())


def _name(check: Check) -> str:
    return f"{check.rule}/{check.name}"


def _function(case: str) -> str:
    return case.partition("[")[0]
