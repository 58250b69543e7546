"""Carries out one run against a target and writes its record."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.conformance.checks import index
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.drive.end_of_target import EndOfTarget
from gateproof.conformance.run.drive.liveness import is_listening, silence
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.plan import Plan
from gateproof.conformance.run.drive.run_header import header_of
from gateproof.conformance.run.drive.signals import postponed, terminated_as_interrupted, what_stopped
from gateproof.conformance.run.drive.time_limit import within
from gateproof.conformance.run.drive.where import where
from gateproof.conformance.run.prepare.agent import prepare_agent
from gateproof.conformance.run.prepare.copies import prepare_copies
from gateproof.conformance.run.prepare.gateway import CannotRun, Distrusted, Prepared, Stage, prepare
from gateproof.conformance.run.prepare.service import prepare_service
from gateproof.conformance.suite.campaign import Campaign, share_s
from gateproof.conformance.suite.rules import Rule, load
from gateproof.conformance.targets.guardian import guardian
from gateproof.conformance.targets.model import AgentTarget, GatewayTarget, ServiceTarget, Target
from gateproof.conformance.wire.rate_limit import Pace
from gateproof.forks.here import how_forks_ended
from gateproof.reports import leaks
from gateproof.reports.evidence import EvidenceWriter, LeakFound
from gateproof.reports.failed_steps import as_a_step, claim_of
from gateproof.reports.record import FILE, read, result_of
from gateproof.reports.run_result import STOPPED_BY
from gateproof.reports.verdicts import CheckResult, Reason, RunResult, Verdict, deciding_levels, many

if TYPE_CHECKING:
    from gateproof.conformance.kit.gateway.received import RunTotals

Sink = Callable[[CheckResult], None]
ControlSink = Callable[[Mapping[str, tuple[int, float]]], None]
USUAL_SEED = 7
# The rules that can be tested if the target's certificate is refused.
_OF_CERTIFICATES = ("TLS-01",)


class CutShort(Exception):
    """The run ends before its last check; the text says why."""


def planned(rules: Sequence[Rule], role: str) -> list[str]:
    """The IDs of all checks of these rules."""
    found = index(role)
    return [check_id for rule in rules for check in found.get(rule.id, ()) for check_id in check.ids()]


def carry_out(
    target: Target | Embedded,
    rules: Sequence[Rule],
    options: RunOptions,
    sink: Sink,
    folder: Path,
    stage: Stage | None = None,
    costs: ControlSink = lambda _: None,
) -> RunResult:
    """Prepares the target and the fakes, runs the checks, and writes the record into the folder.

    `costs` gets the calls and seconds of each control action, at the end of the checks.

    The record of a run that was stopped has the results so far, and every output generated from it says what
    stopped the run.
    """
    run = _Run(target, rules, options, sink, stage, costs)
    folder.mkdir(parents=True, exist_ok=True)
    with EvidenceWriter(folder / FILE, scan=leaks.credential_kind) as writer, suppress(KeyboardInterrupt):
        try:
            with terminated_as_interrupted(), within(options.max_minutes):
                cut_short = run.into(writer)
        except KeyboardInterrupt:
            run.begin_at_last(writer)
            if not writer.whole:
                raise
            cut_short = f"{STOPPED_BY} {what_stopped()}"
        except Exception as broken:
            run.begin_at_last(writer)
            if not writer.whole:
                raise
            cut_short = f"the harness broke: {where(broken)}"
        if not cut_short and (missing := writer.missing()):
            cut_short = f"{many(missing, 'planned check')} never ran"
        took_s = round(time.monotonic() - run.clock, 3)
        try:
            writer.footer(duration_s=took_s, cut_short=cut_short)
        except LeakFound as found:
            writer.footer(
                duration_s=took_s, cut_short=f"the reason why the run ended is withheld: {_held(found)}"
            )
    return result_of(read(folder / FILE))


class _Run:
    """One run: its rules and options, and how it records results."""

    def __init__(
        self,
        target: Target | Embedded,
        rules: Sequence[Rule],
        options: RunOptions,
        sink: Sink,
        stage: Stage | None,
        costs: ControlSink,
    ) -> None:
        self._stage = stage
        self._costs = costs
        self._target = target
        self._rules = rules
        self._options = options
        self._sink = sink
        self._levels = {rule.id: rule.level for rule in rules}
        self._failed: set[str] = set()
        self._failed_steps: set[str] = set()
        # One for each target that was launched.
        self._ends = [EndOfTarget(str, lambda: True)]
        self._started = datetime.now(UTC)
        self.clock = time.monotonic()

    def into(self, writer: EvidenceWriter) -> str:
        """Writes the header and every result; returns why the run ended early, or an empty text."""
        target = self._target
        if not planned(self._rules, self._options.role):
            self._begin(writer, None)
            return ""
        with temporary_run_folder() as (folder, stack):
            distrust = ""
            try:
                prepared = self._prepared(target, folder, stack)
            except Distrusted as reason:
                prepared, distrust = reason.prepared, str(reason)
            except (CannotRun, KeyboardInterrupt) as reason:
                self._begin(writer, None)
                if isinstance(reason, KeyboardInterrupt):
                    raise
                return how_forks_ended() or str(reason)
            self._begin(writer, prepared)
            try:
                copies = [] if distrust else self._copies(target, folder, stack)
            except CannotRun as reason:
                return how_forks_ended() or f"another instance of the target for a worker: {reason}"
            contexts = [self._chosen(each.context, folder) for each in (prepared, *copies)]
            self._ends = [_end_of(each) for each in (prepared, *copies)]
            try:
                self._phases(contexts, writer, _OF_CERTIFICATES if distrust else self._levels)
            except CutShort as reason:
                return str(reason)
            # Not in a proof: it runs single checks, also against gateways that crash.
            asked = () if self._options.chosen is not None else contexts
            return distrust or next(filter(None, map(silence, asked)), "")

    def begin_at_last(self, writer: EvidenceWriter) -> None:
        """Writes the header of a run that ended before it had one: every run has a record."""
        if not writer.begun:
            self._begin(writer, None)

    def _copies(
        self, target: Target | Embedded, folder: Path, stack: ExitStack
    ) -> list[Prepared[GatewayContext]]:
        """One more instance for each further worker, of a gateway that can be started more than once."""
        if self._options.role != "gateway" or self._stage is not None:
            return []
        if not (isinstance(target, Embedded) or (isinstance(target, GatewayTarget) and target.may_run_twice)):
            return []
        return prepare_copies(target, self._options.workers - 1, folder, self._options.seed, stack)

    def _prepared(self, target: Target | Embedded, folder: Path, stack: ExitStack) -> Prepared[Context]:
        role, seed = self._options.role, self._options.seed
        if isinstance(target, AgentTarget) or (isinstance(target, Embedded) and role == "agent"):
            return prepare_agent(target, folder, seed, stack)
        if isinstance(target, ServiceTarget) or (isinstance(target, Embedded) and role == "service"):
            return prepare_service(target, folder, seed, stack)
        return prepare(target, folder, seed, stack, self._stage)

    def _chosen(self, context: Context, folder: Path) -> Context:
        """The context with this run's options: what it leaves out, its rate, and others."""
        left_out, rate = self._options.left_out(), self._options.rate
        return replace(
            context,
            capabilities=context.capabilities - left_out.keys(),
            missing={**context.missing, **left_out},
            examples=self._options.examples,
            reduced_examples=self._options.reduced_examples,
            pace=None if rate is None else Pace(file=folder / "pace", rate=rate),
            replay=self._options.replay,
            trace=self._options.trace,
            held=self._options.held,
            shows_exchanges=self._options.exchanges,
        )

    def _campaign(self, plans: Sequence[Plan]) -> Campaign | None:
        """The time for each check, if the run is a campaign."""
        options = self._options
        if options.database is None:
            return None
        numbers = [plan.generating(options.role) for plan in plans]
        at_once, one_by_one = numbers[0], sum(numbers[1:])
        share = share_s(options.minutes, at_once=at_once, one_by_one=one_by_one, workers=options.workers)
        return Campaign(share_s=share, folder=options.database)

    def _begin(self, writer: EvidenceWriter, prepared: Prepared[Context] | None) -> None:
        header = header_of(self._target, prepared, self._rules, self._options, self._started)
        with postponed():
            writer.header(header)

    def _phases(self, contexts: Sequence[Context], writer: EvidenceWriter, rules: Container[str]) -> None:
        # These import pytest.
        from gateproof.conformance.kit.gateway.received import RunTotals  # noqa: PLC0415
        from gateproof.conformance.run.drive.end_of_run_checks import conclude  # noqa: PLC0415
        from gateproof.conformance.run.drive.phases import PhaseFailed, run_phase  # noqa: PLC0415

        note = partial(self._note, writer)
        options, survey = self._options, RunTotals()
        asked = [rule for rule in self._levels if rule in rules]
        deciding = deciding_levels(strict=options.strict)
        known = {entry.rule for entry in options.baseline}
        ends = {rule for rule, level in self._levels.items() if level in deciding and rule not in known}
        fatal = frozenset(ends if options.fail_fast else ())
        # Each worker of a service has its own, or there is one worker.
        alone = options.role == "service" or (options.role == "gateway" and len(contexts) == options.workers)
        plans = [
            Plan(
                rules=asked,
                serial=serial,
                each=len(contexts) > 1,
                shuffle=options.shuffle,
                fatal=fatal,
                chosen=options.chosen,
            )
            for serial in ((None,) if alone else (False, True))
        ]
        contexts = [replace(each, campaign=self._campaign(plans)) for each in contexts]
        for plan in plans:
            try:
                received = run_phase(plan, contexts, note, workers=1 if plan.serial else options.workers)
            except PhaseFailed as fault:
                raise CutShort(how_forks_ended() or f"the harness broke: {fault}") from fault
            survey.add(received)
            contexts = [_later(each, survey) for each in contexts]
            if self._failed & fatal:
                raise CutShort("--fail-fast stopped the run at the first failure")
        self._costs(survey.control)
        for result in conclude(contexts[0], asked, survey, options.chosen):
            note(result)
        for place, end in enumerate(self._ends):
            if (last := end.last()) is not None:
                note(last, place)

    def _note(self, writer: EvidenceWriter, result: CheckResult, place: int = 0) -> None:
        """Records a result, and the failure of another rule if one of its steps failed in the check.

        `place` says which instance of the target it is about. A target that ended because processes of this
        run did is not judged.
        """
        if ended := how_forks_ended():
            raise CutShort(ended)
        decides = self._level_of(result.rule) in deciding_levels(strict=self._options.strict)
        result = self._ends[place].judged(result, decides=decides)
        with postponed():
            try:
                writer.check(result)
            except LeakFound as found:
                result = _withheld(result, found)
                writer.check(result)
        if result.verdict is Verdict.FAILED:
            self._failed.add(result.rule)
        self._sink(result)
        if result.owner and result.owner not in self._failed_steps:
            self._failed_steps.add(result.owner)
            self._note(writer, _failed_step(result), place)

    def _level_of(self, rule: str) -> str:
        """The level of a rule, selected or not."""
        return self._levels.get(rule) or load()[rule].level


def _end_of(prepared: Prepared[Context]) -> EndOfTarget:
    if prepared.running is None:
        return EndOfTarget(str, lambda: True)
    return EndOfTarget(prepared.running.how_it_ended, partial(is_listening, prepared.context))


def _later(context: Context, survey: RunTotals) -> Context:
    """The context for the next phase, with what the target has been through so far."""
    if not isinstance(context, GatewayContext):
        return context
    return replace(
        context,
        merchant_failed_at=survey.merchant_failed_at,
        registrations=survey.registrations,
        misplaced=tuple(survey.misplaced),
    )


def _failed_step(result: CheckResult) -> CheckResult:
    """The failure of the rule whose step failed in this check. Further ones add nothing, and are left out."""
    return replace(
        result,
        id=as_a_step(result.owner),
        rule=result.owner,
        verdict=Verdict.FAILED,
        reason=Reason.EXPECTATION_BROKEN,
        message=f"in {result.id}: {claim_of(result.message, result.owner)}",
        replay={"kind": "check", "check": result.id},
        owner="",
    )


def _withheld(result: CheckResult, found: LeakFound) -> CheckResult:
    """The verdict alone, because its texts or exchanges contain a secret."""
    return CheckResult(
        id=result.id,
        rule=result.rule,
        verdict=result.verdict,
        reason=result.reason,
        message=f"the details are withheld: {_held(found)}",
        blocking=result.blocking,
        duration_s=result.duration_s,
        owner=result.owner,
    )


def _held(found: LeakFound) -> str:
    return f"a {found.kind} in it was not redacted"


@contextmanager
def temporary_run_folder() -> Iterator[tuple[Path, ExitStack]]:
    """A temporary folder, and a stack that stops started processes before the folder is removed.

    Files that a container wrote there may belong to another user, and are left.
    """
    # Before the folder is there: starting the guardian takes a moment, in which this process may be killed.
    keeper = guardian()
    with (
        tempfile.TemporaryDirectory(prefix="gateproof-", ignore_cleanup_errors=True) as folder,
        ExitStack() as stack,
    ):
        place = Path(folder)
        keeper.add_folder(place)
        stack.callback(keeper.drop_folder, place)
        yield place, stack


def usual_seed(profile: str) -> int:
    """The default seed: a fixed one, but a random one for a campaign."""
    return secrets.randbelow(2**32) if profile == "campaign" else USUAL_SEED
