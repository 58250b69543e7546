"""One run from the command line to the report."""

from __future__ import annotations

import secrets
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from conformance import __version__
from conformance.checks import index
from conformance.rules import Rule
from conformance.run.context import RunContext
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.prepare import CannotRun, Prepared, prepare
from conformance.target.model import GatewayTarget, Target
from reports.verdicts import (
    CheckResult,
    RuleResult,
    RunResult,
    RunVerdict,
    Verdict,
    deciding_levels,
    rule_verdict,
    run_verdict,
)

Sink = Callable[[CheckResult], None]


@dataclass(kw_only=True)
class Findings:
    """What the checks have found so far, and why the run ended before its end, if it did."""

    results: list[CheckResult] = field(default_factory=list)
    cut_short: str = ""


def planned(rules: Sequence[Rule], role: str) -> list[str]:
    """The identifiers of all checks of these rules."""
    found = index(role)
    return [check_id for rule in rules for check in found.get(rule.id, ()) for check_id in check.ids()]


def carry_out(target: Target | Embedded, rules: Sequence[Rule], options: RunOptions, sink: Sink) -> RunResult:
    """Prepares the target and the fakes, runs the checks, and says what came of it, whatever happens."""
    started, clock = datetime.now(UTC), time.monotonic()
    findings = Findings()

    def note(result: CheckResult) -> None:
        findings.results.append(result)
        sink(result)

    facts = {"name": target.name, "version": target.version}
    blocked = ""
    try:
        if planned(rules, options.role) and isinstance(target, GatewayTarget | Embedded):
            with terminated_as_interrupted(), workplace() as (folder, stack):
                prepared = prepare(target, folder, options.seed, stack)
                facts = _facts(prepared)
                _phases(prepared.context, rules, options, note, findings)
    except CannotRun as reason:
        blocked = str(reason)
    except KeyboardInterrupt:
        findings.cut_short = "interrupted"
    ruled = [_ruled(rule, options.role, findings, blocked) for rule in rules]
    verdict, reason_text = _verdict(ruled, findings, blocked, options)
    return RunResult(
        role=options.role,
        verdict=verdict,
        reason=reason_text,
        rules=tuple(ruled),
        target=facts,
        run={
            "harness_version": __version__,
            "seed": options.seed,
            "selection": {"only": list(options.only), "skip": list(options.skip)},
            "workers": options.workers,
            "strict": options.strict,
            "certify": options.certify,
            "started": started.isoformat(timespec="seconds"),
            "duration_s": round(time.monotonic() - clock, 3),
            "complete": not findings.cut_short and not blocked,
        },
    )


def _phases(
    context: RunContext, rules: Sequence[Rule], options: RunOptions, note: Sink, findings: Findings
) -> None:
    # pytest loads when it is needed.
    from conformance.run.afterwards import conclude  # noqa: PLC0415
    from conformance.run.phases import PhaseFailed, run_phase  # noqa: PLC0415
    from conformance.run.received import Survey  # noqa: PLC0415

    survey, selected = Survey(), [rule.id for rule in rules]
    fail_levels = deciding_levels(strict=options.strict) if options.fail_fast else frozenset[str]()
    for phase, workers in (("parallel", options.workers), ("serial", 1)):
        try:
            received = run_phase(
                phase,
                context,
                note,
                rules=selected,
                workers=workers,
                shuffle=options.shuffle,
                fail_levels=fail_levels,
            )
        except PhaseFailed as fault:
            findings.cut_short = f"the harness broke: {fault}"
            return
        survey.add(received)
        failed = (result for result in findings.results if result.verdict is Verdict.FAILED)
        if fail_levels and any(_level(rules, result.rule) in fail_levels for result in failed):
            findings.cut_short = "--fail-fast stopped the run at the first failure"
            return
    for result in conclude(context, selected, survey):
        note(result)


def _level(rules: Sequence[Rule], rule_id: str) -> str:
    return next(rule.level for rule in rules if rule.id == rule_id)


def _ruled(rule: Rule, role: str, findings: Findings, blocked: str) -> RuleResult:
    """A rule's result; checks that did not come to their turn are there, and are not testable."""
    done = {result.id: result for result in findings.results if result.rule == rule.id}
    why = blocked.partition(";")[0].partition("\n")[0] or findings.cut_short or "the check did not run"
    checks = [
        done.get(check_id)
        or CheckResult(id=check_id, rule=rule.id, verdict=Verdict.NOT_TESTABLE, message=f"not run: {why}")
        for check in index(role).get(rule.id, ())
        for check_id in check.ids()
    ]
    verdict, reason = rule_verdict(rule.level, checks)
    return RuleResult(
        id=rule.id,
        level=rule.level,
        title=rule.title,
        section=rule.section,
        holds=rule.holds,
        why=rule.why,
        standard=rule.standard or "",
        verdict=verdict,
        reason=reason,
        checks=tuple(checks),
    )


def _verdict(
    ruled: Sequence[RuleResult], findings: Findings, blocked: str, options: RunOptions
) -> tuple[RunVerdict, str]:
    verdict, reason = run_verdict(ruled, strict=options.strict, certify=options.certify)
    if verdict is RunVerdict.NOT_CONFORMANT:
        return verdict, reason
    if blocked:
        return RunVerdict.NO_VERDICT, blocked
    if findings.cut_short:
        return RunVerdict.NO_VERDICT, findings.cut_short
    return verdict, reason


def _facts(prepared: Prepared) -> dict[str, str]:
    target = prepared.context.target
    return {
        "name": prepared.name,
        "version": prepared.version,
        "base_url": target.base_url,
        "core_url": target.core_url,
    }


@contextmanager
def workplace() -> Iterator[tuple[Path, ExitStack]]:
    """A private folder, and a stack that stops what is started, in that order of going away."""
    with tempfile.TemporaryDirectory(prefix="gateproof-") as folder, ExitStack() as stack:
        yield Path(folder), stack


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """A polite kill ends a run like Ctrl-C does: with a report, and with everything stopped."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def fresh_seed() -> int:
    """A seed for a run that was not given one."""
    return secrets.randbelow(2**32)
