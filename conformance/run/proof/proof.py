"""The proof that the suite finds every shipped defect and passes every legal variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from gateproof import __version__
from gateproof.conformance.checks import index
from gateproof.conformance.run.drive.run_header import harness
from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.run.proof.runs import UNDECIDED, Trial, attempt
from gateproof.conformance.run.proof.scope import Effort, Part, checks_for, longest_first
from gateproof.conformance.run.proof.since import Since, short_name
from gateproof.conformance.run.proof.source_digests import made_of
from gateproof.conformance.run.proof.workers import in_workers
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.proven import SCHEMA as PROVEN
from gateproof.conformance.suite.proven import proven

SCHEMA = "gateproof/proof/1"
FILE = "prove.json"
# How many checks of the right rule are kept for a defect, for quick proofs.
_KEPT = 2


class Outcome(IntEnum):
    """The result of a proof, as exit code."""

    HOLDS = 0
    FAILS = 1
    OPEN = 3


class ProofBroke(Exception):
    """A trial failed with an error that is not the subject's; the text has its name and the error."""

    def __init__(self, subject: Subject, why: Exception) -> None:
        super().__init__(f"the trial of {subject.name} broke: {type(why).__name__}: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """All finished trials of one role, and the checks that no defect made fail.

    `selected` is true if only some defects and variants were selected, and `shard` names a part of a proof
    with `of` trials. Then checks for the other defects are not expected to fail. `drawn` is the number of
    combinations. `since` says what was not tried again because the shipped proof still holds for it.
    """

    role: str
    effort: Effort
    seed: int
    trials: tuple[Trial, ...]
    complete: bool
    took_s: float
    selected: bool = False
    shard: str = ""
    of: int = 0
    drawn: int = 0
    since: Since | None = None

    @property
    def whole(self) -> bool:
        """True if the proof is about all checks of its role."""
        return not self.selected and not self.shard

    @property
    def unseen(self) -> tuple[str, ...]:
        """Checks of judged rules that no defect made fail; a quick proof counts the shipped proof too."""
        seen = {_function(check_id) for trial in self._defects() for check_id in trial.failed_checks}
        if self.effort is Effort.QUICK:
            seen |= proven(self.role).seen()
        if self.since is not None:
            seen |= self.since.seen
        return tuple(name for name in _judged_checks(self.role) if name not in seen)

    def outcome(self) -> Outcome:
        """A proof holds if no trial has a fault and, where it is whole, every check was seen to fail.

        If the only faults are checks that could not decide, the proof is open.
        """
        faults = [fault for trial in self.trials if (fault := trial.fault())]
        if not self.complete:
            return Outcome.OPEN
        if (self.whole and self.unseen) or any(not fault.startswith(UNDECIDED) for fault in faults):
            return Outcome.FAILS
        return Outcome.OPEN if faults else Outcome.HOLDS

    def figures(self) -> dict[str, int]:
        defects = self._defects()
        variants = [trial for trial in self.trials if trial.subject.kind == "variant"]
        before = Counter(subject.kind for subject in self._carried())
        judged = _judged_checks(self.role)
        return {
            "defects": len(defects) + before["defect"],
            "caught": sum(not trial.fault() for trial in defects) + before["defect"],
            "variants": len(variants) + before["variant"],
            "left_alone": sum(not trial.fault() for trial in variants) + before["variant"],
            "checks": len(judged),
            "checks_seen_failing": len(judged) - len(self.unseen),
        }

    def as_json(self) -> dict[str, Any]:
        """The content of prove.json."""
        return {
            "schema": SCHEMA,
            "role": self.role,
            "harness": __version__,
            "commit": harness().commit,
            "catalogue_digest": rules.load().digest(),
            "sources": digests.of_the_suite(),
            "effort": self.effort.value,
            "seed": self.seed,
            "selected": self.selected,
            "combinations": self.drawn,
            **({"shard": self.shard, "of": self.of} if self.shard else {}),
            **({"since": self.since.as_json()} if self.since is not None else {}),
            "complete": self.complete,
            "took_s": self.took_s,
            "figures": self.figures(),
            "unseen": list(self.unseen),
            "trials": [trial.as_json() | {"sources": digests.of(trial.subject)} for trial in self.trials],
        }

    def to_ship(self, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The proof in the form that is part of the package: each defect with some checks that caught it.

        Every check that failed is kept with at least one defect. The first check of a defect in `before`
        stays first if it failed again or is unchanged, because it was shown to catch the defect by itself.
        """
        often = Counter(
            name
            for trial in self._defects()
            for name in {_function(check_id) for check_id in trial.failed_checks}
        )
        known = {} if before is None else before["defects"] | before["later"]
        carried = [each.name for each in self._carried() if each.kind == "defect"]
        kept = {name: list(known[name]["checks"]) for name in carried}
        for trial in self._defects():
            checks = known.get(trial.subject.name, {}).get("checks", [])
            still = self._still(trial)
            first = [check_id for check_id in checks[:1] if check_id in still]
            kept[trial.subject.name] = [*dict.fromkeys([*first, *_closest_to(trial, often, checks), *still])]
        covered = {_function(check_id) for checks in kept.values() for check_id in checks}
        for trial in self._defects():
            for check_id in trial.failed_checks:
                if _function(check_id) not in covered:
                    covered.add(_function(check_id))
                    kept[trial.subject.name].append(check_id)
        variants = [each for each in self._variants() if not each.combined]
        return {
            "schema": PROVEN,
            "role": self.role,
            "harness": __version__,
            "commit": harness().commit,
            "seed": self.seed,
            "catalogue_digest": rules.load().digest(),
            "figures": self.figures(),
            "defects": {name: known[name] for name in carried}
            | {
                trial.subject.name: {
                    "what": trial.subject.what,
                    "rules": list(trial.subject.rules),
                    "checks": kept[trial.subject.name],
                    "took_s": round(trial.duration_s, 1),
                }
                for trial in self._defects()
            },
            "variants": [each.name for each in variants],
            "alone": [each.name for each in variants if not each.in_a_combination],
            "combined": sorted(short_name(each) for each in self._variants() if each.combined),
            "later": {},
            "made_of": made_of(self.role).as_json(),
        }

    def added_to(self, shipped: Mapping[str, Any]) -> dict[str, Any]:
        """The shipped proof with the new trials added; the figures are still those of the full proof.

        A quick proof runs every check of a new defect's rule, but only a few for a variant: variants are not
        added.
        """
        new = self.to_ship()
        passed = [] if self.effort is Effort.QUICK else new["variants"]
        return {
            **shipped,
            "variants": sorted({*shipped["variants"], *passed}),
            "alone": sorted({*shipped["alone"], *passed}),
            "later": {
                **shipped["later"],
                **{name: _with_known(caught, shipped, name) for name, caught in new["defects"].items()},
            },
        }

    def _carried(self) -> tuple[Subject, ...]:
        return () if self.since is None else self.since.carried

    def _variants(self) -> list[Subject]:
        """Those that were tried and those that were carried over."""
        every = (*self._carried(), *(trial.subject for trial in self.trials))
        return [each for each in every if each.kind == "variant"]

    def _still(self, trial: Trial) -> tuple[str, ...]:
        """The checks that failed in the shipped proof, are unchanged, and were not asked again."""
        part = self.since.left.get(trial.subject) if self.since is not None else None
        return () if part is None else part.still

    def _defects(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.subject.kind == "defect"]


def prove(
    role: str,
    all_subjects: Sequence[Subject],
    *,
    effort: Effort,
    workers: int,
    seed: int,
    ended: Callable[[Trial], None],
    parts: Mapping[Subject, Part] | None = None,
) -> list[Trial]:
    """Tests all subjects, several in parallel, each with its own processes and fake parties.

    `parts` has the checks of each, if these differ from the effort's. `ended` is called for each finished
    trial; it may stop the proof by an exception.
    """
    subjects = longest_first(all_subjects, role, effort, seed)
    trials: dict[Subject, Trial] = {}
    asked = parts or {each: Part(asked=checks_for(each, role, effort, seed)) for each in subjects}
    calls = [(subject, role, asked[subject], seed) for subject in subjects]
    with closing(in_workers(attempt, calls, workers=workers)) as working:
        for place, done in working:
            try:
                trials[subjects[place]] = done.result()
            except Exception as broken:
                raise ProofBroke(subjects[place], broken) from broken
            ended(done.result())
    return [trials[subject] for subject in all_subjects]


def _closest_to(trial: Trial, often: Mapping[str, int], before: Sequence[str]) -> list[str]:
    """One failed case of each check of the right rule, up to a few: those that the fewest defects fail.

    A check that many defects fail may fail here as a consequence of an earlier check. That is not so for the
    first check of `before`.
    """
    right = f"{trial.subject.rules[0]}/"
    by_check = {
        _function(check_id): check_id
        for check_id in reversed(trial.failed_checks)
        if check_id.startswith(right)
    }
    first = [check_id for check_id in before[:1] if check_id in trial.failed_checks]
    others = sorted(by_check.values(), key=lambda check_id: (often[_function(check_id)], check_id))
    return list(dict.fromkeys([*first, *others]))[:_KEPT]


def _with_known(caught: Mapping[str, Any], shipped: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The defect with the checks that caught it now, and those that did before."""
    before = (shipped["later"] | shipped["defects"]).get(name, {}).get("checks", [])
    return {**caught, "checks": list(dict.fromkeys([*caught["checks"], *before]))}


def _function(check_id: str) -> str:
    return check_id.partition("[")[0]


def _judged_checks(role: str) -> list[str]:
    levels = {rule.id: rule.level for rule in rules.load().for_role(role)}
    return [
        f"{check.rule}/{check.name}"
        for checks in index(role).values()
        for check in checks
        if levels[check.rule] != "silent"
    ]
