"""`gateproof replay FILE`: repeats a stored failure."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateproof.conformance.run.context.embedded import Embedded
    from gateproof.conformance.run.replay.stored_failure import Stored
    from gateproof.conformance.targets.model import Target
    from gateproof.reports.terminal import Screen
    from gateproof.reports.verdicts import CheckResult, RunResult

WRONG_USAGE = 2
NO_VERDICT = 3
MOST_TIMES = 10_000


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "replay",
        help="repeat a stored failure",
        description="Repeats a stored failure of a run: a history step by step, a race with its "
        "schedule, an example with its value, any other check with its seed. Exit code 0: it does not fail "
        "any more; 1: it failed again.",
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a file in the replay folder of a report, a record evidence.jsonl, or the folder of a run",
    )
    parser.add_argument("--check", default="", metavar="ID", help="the failed check of the record")
    parser.add_argument("--target", type=Path, metavar="FILE", help="the target file of the run")
    parser.add_argument("--times", type=_times, default=1, metavar="N", help="how often (default: 1)")
    parser.add_argument("--no-color", action="store_true", help="no colours")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 it did not fail, 1 it failed at least once, 2 wrong usage, 3 no verdict."""
    from gateproof.conformance.run.replay.stored_failure import NotAFailure, stored  # noqa: PLC0415 - these load pytest and HTTP
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.reports.terminal import screen  # noqa: PLC0415

    try:
        failure = stored(arguments.file, arguments.check)
        target = _target(arguments.target, failure)
    except (NotAFailure, TargetError) as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    shown = screen(no_color=arguments.no_color)
    shown.say(f"gateproof repeats {failure.check} on {target.name}")
    return _repeat(arguments, target, failure, shown)


def _repeat(arguments: argparse.Namespace, target: Target | Embedded, failure: Stored, shown: Screen) -> int:
    from gateproof.reports.terminal import failures, summary  # noqa: PLC0415
    from gateproof.reports.verdicts import Verdict, many  # noqa: PLC0415

    verdicts: list[Verdict] = []
    for _ in range(arguments.times):
        result = _once(target, failure)
        found = _result_of(result, failure.check)
        verdict = found.verdict if found is not None else Verdict.ERROR
        if verdict is not Verdict.PASSED and verdict not in verdicts:
            again = {failure.check: _again(arguments)}
            failures(shown, result, again=_whole_rule(arguments, failure), repeats=again)
            if verdict is not Verdict.FAILED:
                summary(shown, result)
        verdicts.append(verdict)
        if not result.run.get("complete", True):
            break
    failed, unknown = verdicts.count(Verdict.FAILED), len(verdicts) - verdicts.count(Verdict.PASSED)
    unknown -= failed
    without = f", no verdict {many(unknown, 'time')}" if unknown else ""
    shown.say(f"failed {failed} of {many(len(verdicts), 'time')}{without}")
    return 1 if failed else NO_VERDICT if unknown else 0


def _once(target: Target | Embedded, failure: Stored) -> RunResult:
    from gateproof.conformance.run.drive.session import carry_out  # noqa: PLC0415
    from gateproof.conformance.run.proof.scope import rules_of  # noqa: PLC0415

    options = failure.options()
    with TemporaryDirectory(prefix="gateproof-replay-") as folder:
        rules = rules_of(options.chosen, failure.role)
        return carry_out(target, rules, options, lambda _: None, Path(folder))


def _result_of(result: RunResult, check_id: str) -> CheckResult | None:
    """The result of the check, or of a step that failed in it."""
    from gateproof.reports.failed_steps import is_a_step  # noqa: PLC0415

    checks = [check for rule in result.rules for check in rule.checks]
    steps = [check for check in checks if is_a_step(check.id)]
    return next((check for check in (*steps, *checks) if check in steps or check.id == check_id), None)


def _target(path: Path | None, failure: Stored) -> Target | Embedded:
    from gateproof.conformance.run.context.embedded import embedded_reference  # noqa: PLC0415
    from gateproof.conformance.run.replay.stored_failure import NotAFailure  # noqa: PLC0415
    from gateproof.conformance.signin.factory import check_usable  # noqa: PLC0415
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.conformance.targets.file import load  # noqa: PLC0415
    from gateproof.conformance.targets.model import GatewayTarget  # noqa: PLC0415

    if path is None:
        if failure.of_target_file():
            said = f"is of {failure.target or 'a target with a target file'}, not of the embedded reference"
            raise NotAFailure(f"the failure {said}: name its target file with --target")
        return embedded_reference(failure.role, failure.operation())
    target = load(path)
    if target.role != failure.role:
        raise TargetError(str(path), "role", f"{target.role!r}", f"{failure.role!r}, as the failure says")
    if isinstance(target, GatewayTarget):
        check_usable(target)
    return target


def _again(arguments: argparse.Namespace) -> str:
    words = ["gateproof", "replay", str(arguments.file)]
    words += ["--check", arguments.check] if arguments.check else []
    words += ["--target", str(arguments.target)] if arguments.target is not None else []
    return shlex.join(words)


def _whole_rule(arguments: argparse.Namespace, failure: Stored) -> str:
    """The command of a run, to which --only with the rule of the failure is added."""
    words = ["gateproof", "run", failure.role]
    words += ["--target", str(arguments.target)] if arguments.target is not None else []
    return shlex.join([*words, "--seed", str(failure.seed)])


def _times(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_TIMES:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 1 to {MOST_TIMES}")
    return int(text)
