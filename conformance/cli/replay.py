"""`gateproof replay FILE`: repeats a stored failure."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateproof.conformance.run.context.embedded import Embedded
    from gateproof.conformance.run.replay.stored_failure import Stored
    from gateproof.conformance.targets.model import Target
    from gateproof.reports.terminal import Screen

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
    parser.add_argument(
        "--all", action="store_true", help="every failure of the run: which are fixed, still failing or gone"
    )
    parser.add_argument(
        "--hold",
        action="store_true",
        help="if the check fails, keep the target and the fakes running until Ctrl-C",
    )
    parser.add_argument("--no-color", action="store_true", help="no colours")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 it did not fail, 1 it failed at least once, 2 wrong usage, 3 no verdict."""
    from gateproof.conformance.cli.replay_all import repeat_all  # noqa: PLC0415 - these load pytest and HTTP
    from gateproof.conformance.run.replay.stored_failure import NotAFailure, Stored, all_stored, stored  # noqa: PLC0415
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.reports.terminal import screen  # noqa: PLC0415

    shown = screen(no_color=arguments.no_color)
    try:
        if arguments.all:
            _refuse_beside_all(arguments)
            found = all_stored(arguments.file)
            for each in found.values():
                if isinstance(each, Stored):
                    _target(arguments.target, each)
            return repeat_all(found, partial(_target, arguments.target), shown)
        failure = stored(arguments.file, arguments.check)
        target = _target(arguments.target, failure)
        if arguments.hold and arguments.times > 1:
            raise NotAFailure("--hold repeats a failure once: leave out --times")
    except (NotAFailure, TargetError) as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    shown.say(f"gateproof repeats {failure.check} on {target.name}")
    return _repeat(arguments, target, failure, shown)


def _refuse_beside_all(arguments: argparse.Namespace) -> None:
    from gateproof.conformance.run.replay.stored_failure import NotAFailure  # noqa: PLC0415

    beside = [
        name
        for name, given in (
            ("check", arguments.check),
            ("hold", arguments.hold),
            ("times", arguments.times > 1),
        )
        if given
    ]
    if beside:
        raise NotAFailure(f"--all repeats every failure once: leave out --{beside[0]}")


def _repeat(arguments: argparse.Namespace, target: Target | Embedded, failure: Stored, shown: Screen) -> int:
    from gateproof.conformance.cli.replay_hold import hold  # noqa: PLC0415
    from gateproof.conformance.cli.replay_once import once, result_of_check  # noqa: PLC0415
    from gateproof.reports.terminal import failures, summary  # noqa: PLC0415
    from gateproof.reports.verdicts import Verdict, many  # noqa: PLC0415

    verdicts: list[Verdict] = []
    for _ in range(arguments.times):
        result = once(target, failure, held=partial(hold, shown) if arguments.hold else None)
        found = result_of_check(result, failure.check)
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
        return replace(
            embedded_reference(failure.role, failure.operation()), own_parties=failure.own_parties()
        )
    target = load(path)
    if target.role != failure.role:
        raise TargetError(str(path), "role", f"{target.role!r}", f"{failure.role!r}, as the failure says")
    if isinstance(target, GatewayTarget):
        check_usable(target)
    return replace(target, own_parties=failure.own_parties())


def _again(arguments: argparse.Namespace) -> str:
    words = ["gateproof", "replay", str(arguments.file)]
    words += ["--check", arguments.check] if arguments.check else []
    words += ["--target", str(arguments.target)] if arguments.target is not None else []
    return shlex.join(words)


def _whole_rule(arguments: argparse.Namespace, failure: Stored) -> str:
    """The command of a run, to which --only with the rule of the failure is added."""
    words = ["gateproof", "run", failure.role]
    words += ["--target", str(arguments.target)] if arguments.target is not None else []
    words += failure.own_parties().as_options()
    return shlex.join([*words, "--seed", str(failure.seed)])


def _times(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_TIMES:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 1 to {MOST_TIMES}")
    return int(text)
