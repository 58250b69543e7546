"""`gateproof run`: tests a target."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.conformance.cli.folder import claimed
from gateproof.conformance.cli.own_memory import can_hide, hide
from gateproof.conformance.cli.report import NamesFormats, formats_of
from gateproof.conformance.cli.run_options import (
    DATABASE,
    MINUTES,
    ROLES,
    add_options,
    completed,
    max_minutes,
    words,
)
from gateproof.reports.variables import SIGN_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateproof.conformance.cli.events import Events
    from gateproof.conformance.run.context.embedded import Embedded
    from gateproof.conformance.run.drive.options import RunOptions
    from gateproof.conformance.suite.rules import Rule
    from gateproof.conformance.targets.model import Target
    from gateproof.reports.signing import SigningKey
    from gateproof.reports.verdicts import CheckResult, RunResult

WRONG_USAGE = 2
NO_VERDICT = 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="test a target; without --target, the embedded reference",
        description="Runs the suite against a target, or against the embedded reference.",
        formatter_class=NamesFormats,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument(
        "role", nargs="?", default=None, choices=ROLES, help="what the target is (default: gateway)"
    )
    add_options(parser)
    parser.set_defaults(handler=handle)


def handle(given: argparse.Namespace) -> int:
    """Exit codes: 0 conformant, 1 not, 2 wrong usage, 3 no verdict, 4 incomplete."""
    # These import pytest, HTTP and cryptography, so they are imported only for a run.
    from gateproof.conformance.cli.events import events_in  # noqa: PLC0415
    from gateproof.conformance.cli.outputs import refuse_foreign  # noqa: PLC0415
    from gateproof.conformance.cli.own_parties import own_parties  # noqa: PLC0415
    from gateproof.conformance.run.context.embedded import embedded_reference  # noqa: PLC0415
    from gateproof.conformance.run.drive.run_forks import run_forks  # noqa: PLC0415
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.reports.baseline import BaselineError  # noqa: PLC0415
    from gateproof.reports.signing import KeyProblem, signing_key  # noqa: PLC0415

    with ExitStack() as holding:
        try:
            arguments = completed(given)
            target = _target(arguments)
            role = target.role if target is not None else arguments.role or "gateway"
            if arguments.operation and (role != "service" or target is not None):
                raise ValueError(
                    "--operation is for the embedded service: gateproof run service --operation mcp"
                )
            parties = own_parties(arguments, target)
            selected = _selected(arguments, role)
            formats = formats_of(arguments.format)
            options = _options(arguments, role, target, selected)
            if given.own_process and not os.environ.get(SIGN_KEY):
                # Before a file is opened and a key is read: forks copy all that is here, and a variable that
                # was removed is still in memory. A target could ask the process that forks for it.
                holding.enter_context(run_forks(role, workers=options.workers, embedded=target is None))
            if arguments.sign_key is not None:
                hide()
            key = signing_key(arguments.sign_key, os.environ)
            # A launched target inherits the environment, and must not get the signing key.
            os.environ.pop(SIGN_KEY, None)
            holding.enter_context(claimed(arguments.out))
            refuse_foreign(arguments.out)
            events = holding.enter_context(events_in(arguments.events, arguments.out))
        except (TargetError, BaselineError, KeyProblem, ValueError) as wrong:
            print(f"gateproof: {wrong}", file=sys.stderr)
            return WRONG_USAGE
        asked = target or embedded_reference(role, arguments.operation or "http")
        return _run(arguments, replace(asked, own_parties=parties), selected, options, formats, key, events)


def _run(
    arguments: argparse.Namespace,
    target: Target | Embedded,
    selected: Sequence[Rule],
    options: RunOptions,
    formats: Sequence[str],
    key: SigningKey,
    events: Events,
) -> int:
    from gateproof.conformance.cli.outputs import Leak, forget, tell_job, write_all  # noqa: PLC0415
    from gateproof.conformance.run.drive.gc_tuning import collect_seldom  # noqa: PLC0415
    from gateproof.conformance.run.drive.session import carry_out, planned  # noqa: PLC0415
    from gateproof.reports.durations import control_costs, slowest  # noqa: PLC0415
    from gateproof.reports.run_result import STOPPED_BY  # noqa: PLC0415
    from gateproof.reports.terminal import Counting, failures, partial, screen, summary, undecided  # noqa: PLC0415
    from gateproof.reports.verdicts import RunVerdict, Verdict, many  # noqa: PLC0415

    collect_seldom()
    shown = screen(no_color=arguments.no_color)
    checks = planned(selected, options.role)
    if not key.ephemeral and getattr(target, "launch", None) is not None and not can_hide():
        shown.say("note: as root, a launched target can read the signing key; see SECURITY.md")
    if not arguments.quiet:
        shown.say(_opening(target, options, many(len(checks), "check"), selected))
    counting = Counting(shown, len(checks), "checks", silent=arguments.quiet)

    def ended(check: CheckResult) -> None:
        counting.add(check.rule, failed=check.verdict in {Verdict.FAILED, Verdict.ERROR})
        events.judged(check)

    # First, so that no outputs of an earlier run remain if this run is stopped.
    forget(arguments.out)
    events.begun(target.name, options.role, options.seed, len(checks))
    control: dict[str, tuple[int, float]] = {}
    result = carry_out(target, selected, options, ended, arguments.out, costs=control.update)
    counting.end()
    events.ended(result)
    if events.lost:
        print(
            f"gateproof: --events {arguments.events}: {events.lost}; the run went on without it",
            file=sys.stderr,
        )
    try:
        written = write_all(result, arguments.out, formats, key)
        tell_job(arguments.out)
    except Leak as leak:
        print(f"gateproof: {leak}; the record is in {arguments.out}", file=sys.stderr)
        return NO_VERDICT
    if arguments.quiet:
        beside = f"; {said}" if (said := undecided(result)) else ""
        shown.say(f"{result.verdict.value}: {result.reason}{partial(result)}{beside}")
    else:
        again = shlex.join(words(arguments, options.seed, whole=False))
        steps = {rule.id: rule.next_step for rule in selected} if options.role == "service" else {}
        failures(shown, result, again=again, repeats=_repeats(arguments, result), steps=steps)
        slowest(shown, result, arguments.durations)
        control_costs(shown, control, arguments.durations)
        summary(shown, result)
        shown.say(f"report: {arguments.out}{_named(path.relative_to(arguments.out) for path in written)}")
        if str(result.run["cut_short"]).startswith(STOPPED_BY):
            whole = shlex.join(words(arguments, options.seed, whole=True))
            shown.say(f"next: {whole} runs it again; what was seen until then is in the report")
        elif result.verdict is RunVerdict.NO_VERDICT and arguments.target is not None and _lacks(result):
            names = ["--names", arguments.names] if arguments.names else []
            again = shlex.join(["gateproof", "doctor", "--target", str(arguments.target), *names])
            shown.say(f"next: {again} connects, and runs no check")
    return result.verdict.exit_code


def _lacks(result: RunResult) -> bool:
    """True if a rule could not be tested; false if merely no selected rule decides."""
    from gateproof.reports.verdicts import Verdict  # noqa: PLC0415

    return any(rule.verdict in {Verdict.NOT_TESTABLE, Verdict.ERROR} for rule in result.rules)


def _named(paths: Iterable[Path]) -> str:
    """The names of the files; for a folder with several files its name and their number."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.parts[0] if len(path.parts) > 1 else "", []).append(str(path))
    names = folders.pop("", [])
    names += [
        each[0] if len(each) == 1 else f"{folder}: {len(each)} files" for folder, each in folders.items()
    ]
    return f" ({', '.join(names)})" if names else ""


def _repeats(arguments: argparse.Namespace, result: RunResult) -> dict[str, str]:
    """The replay command by check ID, for failed checks that have a replay file."""
    from gateproof.reports.replay_files import paths  # noqa: PLC0415

    target = ["--target", str(arguments.target)] if arguments.target is not None else []
    return {
        check: shlex.join(["gateproof", "replay", str(arguments.out / path), *target])
        for check, path in paths(result).items()
        if (arguments.out / path).is_file()
    }


def _opening(target: Target | Embedded, options: RunOptions, checks: str, selected: Sequence[Rule]) -> str:
    from gateproof.reports.verdicts import many  # noqa: PLC0415

    what = f"{checks} of {many(len(selected), 'rule')}, seed {options.seed}"
    told = [f"gateproof tests {target.name} as {options.role}", what, _expected(target, selected, options)]
    return "\n".join(filter(None, told))


def _expected(target: Target | Embedded, selected: Sequence[Rule], options: RunOptions) -> str:
    """How long a run against a service will take; empty for a short one, a campaign and other roles."""
    if options.role != "service" or options.database is not None:
        return ""
    from gateproof.conformance.checks import index  # noqa: PLC0415
    from gateproof.conformance.run.service.expected_time import expected_time  # noqa: PLC0415
    from gateproof.conformance.targets.model import ServiceTarget  # noqa: PLC0415

    found = index(options.role)
    checks = [check for rule in selected for check in found.get(rule.id, ())]
    expected = expected_time(checks, options.left_out(), workers=options.workers, rate=options.rate)
    # The embedded service fetches keys whenever it needs to.
    return expected.in_words(seldom=None if isinstance(target, ServiceTarget) else False)


def _selected(arguments: argparse.Namespace, role: str) -> tuple[Rule, ...]:
    from gateproof.conformance.suite import rules  # noqa: PLC0415

    partial = [name for name in ("only", "skip", "shard") if getattr(arguments, name)]
    if arguments.certify and partial:
        raise ValueError(f"--certify needs the whole catalogue: leave out --{partial[0]}")
    if arguments.certify and arguments.deviate:
        raise ValueError("--certify needs a gateway that keeps the specification: leave out --deviate")
    if arguments.certify and arguments.trace:
        raise ValueError(
            "--certify needs a target that is not told which check is running: leave out --trace"
        )
    selected = rules.select(rules.load().for_role(role), arguments.only, arguments.skip)
    if arguments.shard is not None:
        selected = tuple(rule for place, rule in enumerate(selected) if arguments.shard.holds(place))
    if not selected:
        raise ValueError("--only, --skip and --shard leave no rule to test")
    return selected


def _options(
    arguments: argparse.Namespace, role: str, target: Target | None, selected: Sequence[Rule]
) -> RunOptions:
    from gateproof.conformance.run.drive.options import RunOptions  # noqa: PLC0415
    from gateproof.conformance.run.drive.session import planned, usual_seed  # noqa: PLC0415
    from gateproof.conformance.run.usual_workers import workers_of_a_run  # noqa: PLC0415
    from gateproof.conformance.suite import rules  # noqa: PLC0415
    from gateproof.conformance.targets.model import AgentTarget, GatewayTarget, ServiceTarget  # noqa: PLC0415
    from gateproof.reports import baseline  # noqa: PLC0415
    from gateproof.reports.failed_steps import as_a_step  # noqa: PLC0415

    seed = arguments.seed if arguments.seed is not None else usual_seed(arguments.profile)
    entries: tuple[baseline.Entry, ...] = ()
    if arguments.baseline is not None:
        try:
            raw = arguments.baseline.read_bytes()
        except OSError as problem:
            raise ValueError(f"--baseline {arguments.baseline}: {problem.strerror}") from problem
        known = {
            rule.id: [*planned([rule], role), as_a_step(rule.id)] for rule in rules.load().for_role(role)
        }
        entries = baseline.parse(raw, str(arguments.baseline), known)
    campaign = arguments.profile == "campaign"
    if not campaign and (arguments.minutes is not None or arguments.database is not None):
        raise ValueError("--minutes and --database are for campaigns: add --profile campaign")
    # A manual sign-in needs one terminal.
    by_hand = isinstance(target, GatewayTarget) and target.sign_in.kind == "manual"
    # Parallel agents would overwrite each other's log files.
    logs = isinstance(target, AgentTarget) and bool(target.logs.files)
    # Only a service with free ports can be started once for each worker.
    only_one = by_hand or logs or (isinstance(target, ServiceTarget) and not target.may_run_twice)
    # Copies of the embedded service wait for little that one for each processor would not wait for as well.
    own_targets = (role == "gateway" and target is None) or (
        isinstance(target, GatewayTarget | ServiceTarget) and target.may_run_twice
    )
    usual = workers_of_a_run(len(planned(selected, role)), role, own_targets=own_targets)
    return RunOptions(
        role=role,
        only=tuple(arguments.only),
        skip=tuple(arguments.skip),
        shard=arguments.shard,
        workers=1 if only_one else arguments.workers or usual,
        seed=seed,
        faults=arguments.faults,
        intercept=arguments.intercept,
        examples=arguments.examples,
        rate=arguments.rate,
        profile=arguments.profile,
        minutes=(arguments.minutes or MINUTES) if campaign else 0.0,
        max_minutes=max_minutes(arguments),
        database=(arguments.database or Path(DATABASE)).absolute() if campaign else None,
        strict=arguments.strict,
        certify=arguments.certify,
        deviate=tuple(arguments.deviate),
        trace=bool(arguments.trace),
        fail_fast=arguments.fail_fast,
        shuffle=arguments.shuffle,
        baseline=entries,
        command=shlex.join(words(arguments, seed, whole=True)),
    )


def _target(arguments: argparse.Namespace) -> Target | None:
    from gateproof.conformance.signin.factory import check_usable  # noqa: PLC0415
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.conformance.targets.file import load  # noqa: PLC0415
    from gateproof.conformance.targets.model import GatewayTarget  # noqa: PLC0415

    if arguments.target is None:
        return None
    target = load(arguments.target)
    if isinstance(target, GatewayTarget):
        check_usable(target)
    if arguments.role is not None and target.role != arguments.role:
        expected = f"{arguments.role!r}, as the command says"
        raise TargetError(str(arguments.target), "role", f"{target.role!r}", expected)
    return target
