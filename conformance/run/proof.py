"""The proof that the suite sees what it claims to see, and leaves legal choices alone."""

from __future__ import annotations

import atexit
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance import rules
from conformance.checks import index
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.prepare import Stage, set_stage
from conformance.run.session import carry_out
from conformance.run.standby import standby
from conformance.run.subjects import Subject
from reports.verdicts import RunResult, Verdict

# The walk through a whole authorization: whatever a defect breaks, this shows whether it breaks everything.
SMOKE = ("DISC-01", "REG-01", "AUTHZ-01", "CODE-01", "REDEEM-01")


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What the suite found of one subject."""

    subject: Subject
    failed: tuple[str, ...]
    failed_checks: tuple[str, ...]
    broken: tuple[str, ...]
    untested: tuple[str, ...]
    reason: str
    duration_s: float

    def fault(self) -> str:
        """Why the trial does not prove what it should; empty when it does."""
        allowed = set(self.subject.rules)
        undeclared = [rule for rule in self.failed if rule not in allowed]
        if self.broken:
            return f"the harness broke in {', '.join(self.broken)}"
        if self.subject.kind == "defect" and self.subject.rules[0] not in self.failed:
            seen = f"; failed instead: {', '.join(self.failed)}" if self.failed else ""
            return f"not caught by {self.subject.rules[0]}{seen}"
        if undeclared:
            return (
                f"{'undeclared' if self.subject.kind == 'defect' else 'false alarm'}: {', '.join(undeclared)}"
            )
        if self.subject.kind == "variant" and self.untested:
            return f"left untested: {', '.join(self.untested)}"
        return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """All trials of one role, and the checks that none of them made fail."""

    role: str
    trials: tuple[Trial, ...]
    unseen: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.unseen and not any(trial.fault() for trial in self.trials)

    def as_json(self) -> dict[str, Any]:
        """The proof as prove.json has it."""
        defects = [trial for trial in self.trials if trial.subject.kind == "defect"]
        return {
            "schema": "gateproof/proof/1",
            "role": self.role,
            "holds": self.holds,
            "figures": {
                "defects": len(defects),
                "caught": sum(not trial.fault() for trial in defects),
                "variants": len(self.trials) - len(defects),
                "left_alone": sum(not trial.fault() for trial in self.trials if trial not in defects),
                "checks_never_seen_failing": len(self.unseen),
            },
            "unseen": list(self.unseen),
            "trials": [
                {
                    "kind": trial.subject.kind,
                    "name": trial.subject.name,
                    "what": trial.subject.what,
                    "rules": list(trial.subject.rules),
                    "failed": list(trial.failed),
                    "failed_checks": list(trial.failed_checks),
                    "fault": trial.fault(),
                    "duration_s": trial.duration_s,
                }
                for trial in self.trials
            ],
        }


def prove(
    role: str,
    all_subjects: Sequence[Subject],
    *,
    quick: bool,
    workers: int,
    seed: int,
    ended: Callable[[Trial], None],
) -> Proof:
    """Puts every subject to the test, several at a time; each has processes and fakes of its own."""
    trials: dict[Subject, Trial] = {}
    # Fresh interpreters: a process that was forked off a test runner would carry its state along.
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start) as pool:
        waiting = {pool.submit(_try, subject, role, quick, seed): subject for subject in all_subjects}
        for done in as_completed(waiting):
            trials[waiting[done]] = done.result()
            ended(done.result())
    ordered = tuple(trials[subject] for subject in all_subjects)
    return Proof(role=role, trials=ordered, unseen=_unseen(role, ordered))


@cache
def _own_place(seed: int) -> tuple[Stage, tuple[str, ...]]:
    """The stage of this process and its way to start gateways: both take longer than most trials."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="gateproof-stage-")))
    return set_stage(folder, seed, stack), standby(stack)


def _try(subject: Subject, role: str, quick: bool, seed: int) -> Trial:
    wanted = (*subject.rules, *SMOKE) if quick else ()
    selected = rules.select(rules.load().for_role(role), wanted)
    options = RunOptions(role=role, seed=seed)
    stage, runner = _own_place(seed)
    embedded = Embedded(name=f"{subject.kind} {subject.name}", program=subject.program(role, runner))
    with TemporaryDirectory(prefix="gateproof-proof-") as folder:
        return _trial(subject, carry_out(embedded, selected, options, lambda _: None, Path(folder), stage))


def _trial(subject: Subject, result: RunResult) -> Trial:
    def ids(verdict: Verdict, levels: Iterable[str]) -> tuple[str, ...]:
        return tuple(rule.id for rule in result.rules if rule.verdict is verdict and rule.level in levels)

    judged = ("spec", "entailed", "rfc")
    return Trial(
        subject=subject,
        failed=ids(Verdict.FAILED, judged),
        failed_checks=tuple(
            check.id for rule in result.rules for check in rule.checks if check.verdict is Verdict.FAILED
        ),
        broken=ids(Verdict.ERROR, (*judged, "silent")),
        untested=tuple(
            rule.id
            for rule in result.rules
            if rule.verdict is Verdict.NOT_TESTABLE and rule.level in judged and rule.checks
        ),
        reason=result.reason,
        duration_s=float(result.run["duration_s"]),
    )


def _unseen(role: str, trials: Iterable[Trial]) -> tuple[str, ...]:
    """Checks of judged rules that no defect has made fail."""
    seen = {check_id.partition("[")[0] for trial in trials for check_id in trial.failed_checks}
    levels = {rule.id: rule.level for rule in rules.load().for_role(role)}
    return tuple(
        f"{check.rule}/{check.name}"
        for checks in index(role).values()
        for check in checks
        if levels[check.rule] != "silent" and f"{check.rule}/{check.name}" not in seen
    )
