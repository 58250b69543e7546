"""Runs the suite against one subject, and compares the result with what is expected."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.prepare.fork_server import runner_here
from gateproof.conformance.run.prepare.gateway import Stage, set_stage
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.run.proof.scope import Part, in_passing, rules_of
from gateproof.fakes.merchant.admin import MerchantAdminError
from gateproof.reports.failed_steps import is_a_step
from gateproof.reports.verdicts import Reason, RuleResult, RunResult, Verdict

# Far below the merchant's limit, above which it discards records that checks need.
_MOST_MINTED = 20_000
_JUDGED = ("spec", "entailed", "rfc")
# The start of the fault text for a defect that failed an undeclared rule, and for a trial without a result:
# a race did not overlap, or times could not be compared.
UNDECLARED = "undeclared"
NO_OVERLAP = "a race did not overlap"
TIMES_UNCLEAR = "times were unclear"
UNDECIDED = (NO_OVERLAP, TIMES_UNCLEAR)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """The result of the suite for one subject."""

    subject: Subject
    failed: tuple[str, ...]
    failed_checks: tuple[str, ...]
    # For each rule with an error, the message of its first check with an error.
    broken: Mapping[str, str]
    untested: Mapping[str, str]
    reason: str
    duration_s: float
    # For each rule with a check that did not pass, the message of the first such check.
    said: Mapping[str, str] = field(default_factory=dict)
    # Checks whose races did not overlap often enough.
    no_overlap: tuple[str, ...] = ()
    times_unclear: tuple[str, ...] = ()
    # An unchanged check, which was not run again, caught the defect in the shipped proof.
    caught_before: bool = False
    # The fault of a trial that was read from a file: the file lacks some data to find it again.
    known_fault: str | None = None

    def fault(self) -> str:
        """Why the trial does not have the expected result; empty if it has."""
        if self.known_fault is not None:
            return self.known_fault
        allowed = set(self.subject.rules)
        undeclared = [rule for rule in self.failed if rule not in allowed]
        if self.broken:
            return f"the harness broke in {', '.join(self.broken)}; first: {next(iter(self.broken.values()))}"
        right = self.subject.rules[0] if self.subject.kind == "defect" else None
        in_vain = (*self.no_overlap, *self.times_unclear)
        undecided = any(check_id.startswith(f"{right}/") for check_id in in_vain)
        caught = right in self.failed or self.caught_before
        if right is not None and not caught and not undecided:
            seen = f"; failed instead: {', '.join(self.failed)}" if self.failed else ""
            return f"not caught by {right}{seen}" + "".join(
                f"; {why}" for why in (self.reason, self.said.get(right)) if why
            )
        if undeclared:
            what = UNDECLARED if self.subject.kind == "defect" else "false alarm"
            why = self.said.get(undeclared[0])
            return f"{what}: {', '.join(undeclared)}" + (f"; {why}" if why else "")
        if self.no_overlap:
            return f"{NO_OVERLAP}: {', '.join(self.no_overlap)}"
        if self.times_unclear:
            return f"{TIMES_UNCLEAR}: {', '.join(self.times_unclear)}"
        if self.subject.kind == "variant" and self.untested:
            return "left untested: " + "; ".join(f"{rule}: {why}" for rule, why in self.untested.items())
        return ""

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.subject.kind,
            "name": self.subject.name,
            "what": self.subject.what,
            "rules": list(self.subject.rules),
            "failed": list(self.failed),
            "failed_checks": list(self.failed_checks),
            "fault": self.fault(),
            "duration_s": self.duration_s,
            **({"in_a_combination": True} if self.subject.in_a_combination else {}),
            **({"caught_before": True} if self.caught_before else {}),
        }


def read_again(subject: Subject, said: Mapping[str, Any], *, known_fault: str | None = None) -> Trial:
    """The trial of an entry of prove.json; without `known_fault`, its fault is computed again."""
    return Trial(
        subject=subject,
        failed=tuple(said["failed"]),
        failed_checks=tuple(said["failed_checks"]),
        broken={},
        untested={},
        reason="",
        duration_s=said["duration_s"],
        caught_before=said.get("caught_before", False),
        known_fault=known_fault,
    )


def attempt(subject: Subject, role: str, part: Part, seed: int) -> Trial:
    """Tests a subject with a part of the checks, or all."""
    chosen = part.asked
    passing = in_passing(subject, role, chosen)
    options = RunOptions(role=role, seed=seed, chosen=chosen, reduced_examples=passing, exchanges=False)
    own = own_place(seed)
    embedded = Embedded(
        name=f"{subject.kind} {subject.name}",
        program=subject.program(role, own.runner),
        operation=subject.operation,
    )
    # A service gets its own world, because its configuration is part of the test.
    stage = own.stage() if role == "gateway" else None
    with TemporaryDirectory(prefix="gateproof-proof-") as folder:
        result = carry_out(embedded, rules_of(chosen, role), options, lambda _: None, Path(folder), stage)
    trial = replace(trial_of(subject, result, sampled=chosen is not None), caught_before=part.caught_before)
    if chosen is None:
        # A whole run leaves hundreds of megabytes in cycles, and the automatic collection is rare.
        del result
        gc.collect()
    return trial


class _Place:
    """The merchant of a worker, and the command of the fork server.

    The merchant is kept for many trials because its start is slow. It is replaced now and then, because it
    keeps records of hundreds of megabytes.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._lasting = ExitStack()
        atexit.register(self._lasting.close)
        # The command that runs a module of the reference.
        self.runner = runner_here(self._lasting)
        self._stage: Stage | None = None
        self._staged = self._lasting.enter_context(ExitStack())

    def stage(self) -> Stage:
        if self._stage is None or _is_worn(self._stage):
            self._staged.close()
            gc.collect()
            folder = Path(self._staged.enter_context(TemporaryDirectory(prefix="gateproof-stage-")))
            self._stage = set_stage(folder, self._seed, self._staged)
        return self._stage


def _is_worn(stage: Stage) -> bool:
    """True if the merchant has many records, or does not run."""
    try:
        with closing(stage.merchant.admin()) as admin:
            return admin.last_minted() > _MOST_MINTED
    except MerchantAdminError:
        return True


own_place = cache(_Place)


def trial_of(subject: Subject, result: RunResult, *, sampled: bool = False) -> Trial:
    """The trial for a run; with `sampled`, a case that does not apply does not leave its rule untested."""

    failed_checks = tuple(
        check.id for rule in result.rules for check in rule.checks if check.verdict is Verdict.FAILED
    )
    by_a_check = {check_id.partition("/")[0] for check_id in failed_checks if not is_a_step(check_id)}
    # A defect may break steps of many checks. Such failures are no false alarms, and prove no check.
    counted = by_a_check if subject.kind == "defect" else {rule.id for rule in result.rules}
    return Trial(
        subject=subject,
        failed=tuple(
            rule.id
            for rule in result.rules
            if rule.verdict is Verdict.FAILED and rule.level in _JUDGED and rule.id in counted
        ),
        failed_checks=tuple(check_id for check_id in failed_checks if not is_a_step(check_id)),
        broken={
            rule.id: rule.reason
            for rule in result.rules
            if rule.verdict is Verdict.ERROR and rule.level in (*_JUDGED, "silent")
        },
        untested={
            rule.id: rule.reason
            for rule in result.rules
            if rule.verdict is Verdict.NOT_TESTABLE
            and rule.level in _JUDGED
            and any(check.blocking or not sampled for check in rule.checks)
        },
        reason=result.reason,
        duration_s=float(result.run["duration_s"]),
        said={rule.id: said for rule in result.rules if (said := _first_of(rule))},
        no_overlap=_checks_by(result, Reason.NO_OVERLAP),
        times_unclear=_checks_by(result, Reason.TIMES_UNCLEAR),
    )


def _checks_by(result: RunResult, reason: Reason) -> tuple[str, ...]:
    return tuple(check.id for rule in result.rules for check in rule.checks if check.reason is reason)


def _first_of(rule: RuleResult) -> str:
    """The message of the first failed check of a rule, or else of the first untested one."""
    for verdict in (Verdict.FAILED, Verdict.NOT_TESTABLE):
        for check in rule.checks:
            if check.verdict is verdict:
                got = f", got {check.got}" if check.got else ""
                return f"{check.id}: {check.message or check.reason}{got}"
    return ""
