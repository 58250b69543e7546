"""One subject put under the suite, and whether what was found is what should be found."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.prepare import Stage, set_stage
from conformance.run.scope import Effort, checks_for, rules_of
from conformance.run.session import carry_out
from conformance.run.standby import standby
from conformance.run.subjects import Subject
from reports.verdicts import RunResult, Verdict

_JUDGED = ("spec", "entailed", "rfc")


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What the suite found of one subject."""

    subject: Subject
    failed: tuple[str, ...]
    failed_checks: tuple[str, ...]
    broken: tuple[str, ...]
    untested: Mapping[str, str]
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
            return f"not caught by {self.subject.rules[0]}{seen}" + (
                f"; {self.reason}" if self.reason else ""
            )
        if undeclared:
            return (
                f"{'undeclared' if self.subject.kind == 'defect' else 'false alarm'}: {', '.join(undeclared)}"
            )
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
        }


def attempt(subject: Subject, role: str, effort: Effort, seed: int) -> Trial:
    """Puts a subject under as much of the suite as the effort wants."""
    chosen = checks_for(subject, role, effort, seed)
    options = RunOptions(role=role, seed=seed, chosen=chosen)
    stage, runner = _own_place(seed)
    embedded = Embedded(name=f"{subject.kind} {subject.name}", program=subject.program(role, runner))
    with TemporaryDirectory(prefix="gateproof-proof-") as folder:
        result = carry_out(embedded, rules_of(chosen, role), options, lambda _: None, Path(folder), stage)
    return trial_of(subject, result)


@cache
def _own_place(seed: int) -> tuple[Stage, tuple[str, ...]]:
    """The stage of this process and its way to start gateways: both take longer than most trials."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="gateproof-stage-")))
    return set_stage(folder, seed, stack), standby(stack)


def trial_of(subject: Subject, result: RunResult) -> Trial:
    """What a run says about a subject."""

    def ids(verdict: Verdict, levels: Iterable[str]) -> tuple[str, ...]:
        return tuple(rule.id for rule in result.rules if rule.verdict is verdict and rule.level in levels)

    return Trial(
        subject=subject,
        failed=ids(Verdict.FAILED, _JUDGED),
        failed_checks=tuple(
            check.id for rule in result.rules for check in rule.checks if check.verdict is Verdict.FAILED
        ),
        broken=ids(Verdict.ERROR, (*_JUDGED, "silent")),
        untested={
            rule.id: rule.reason
            for rule in result.rules
            if rule.verdict is Verdict.NOT_TESTABLE and rule.level in _JUDGED and rule.checks
        },
        reason=result.reason,
        duration_s=float(result.run["duration_s"]),
    )
