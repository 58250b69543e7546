"""`gateproof control check`: tries every control action of a target."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateproof.conformance.run.doctor.control_actions import Tried
    from gateproof.conformance.targets.model import GatewayTarget

WRONG_USAGE = 2
NO_VERDICT = 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("control", help="try the control actions of a gateway's target file")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", dest="verb", required=True)
    check = verbs.add_parser(
        "check",
        help="try every control action, and say what is wrong",
        description="Carries out every control action with valid arguments, and looks at its effect. "
        "Moves the target's clock by an hour and rotates its keys, as a run does.",
    )
    check.add_argument("--target", type=Path, required=True, metavar="FILE", help="the target file")
    check.add_argument("--json", action="store_true", help="one JSON object instead of text")
    check.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 no action is wrong, 1 at least one is, 2 wrong usage, 3 the target was not reached."""
    from gateproof.conformance.run.prepare.gateway import CannotRun  # noqa: PLC0415 - HTTP and cryptography
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.reports.terminal import screen  # noqa: PLC0415

    try:
        target = _gateway(arguments.target)
    except TargetError as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    try:
        tried = _tried(target)
    except CannotRun as reason:
        # The reason may contain output of the target.
        screen(sys.stderr, no_color=True).say(f"gateproof: {reason}")
        return NO_VERDICT
    wrong_ones = [each for each in tried if each.outcome == "wrong"]
    if arguments.json:
        found = [{"action": each.action, "outcome": each.outcome, "said": each.said} for each in tried]
        print(json.dumps({"wrong": len(wrong_ones), "actions": found}, indent=2))
    else:
        _print(tried, len(wrong_ones))
    return 1 if wrong_ones else 0


def _gateway(file: Path) -> GatewayTarget:
    from gateproof.conformance.signin.factory import check_usable  # noqa: PLC0415
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.conformance.targets.file import load  # noqa: PLC0415
    from gateproof.conformance.targets.model import GatewayTarget  # noqa: PLC0415

    target = load(file)
    if not isinstance(target, GatewayTarget):
        raise TargetError(str(file), "[target] role", f"{target.role!r}", "'gateway'")
    if target.control is None:
        raise TargetError(str(file), "[control]", "nothing", "a table with url or command")
    check_usable(target)
    return target


def _tried(target: GatewayTarget) -> list[Tried]:
    from gateproof.conformance.run.doctor.control_actions import try_actions  # noqa: PLC0415
    from gateproof.conformance.run.drive.session import temporary_run_folder  # noqa: PLC0415
    from gateproof.conformance.run.prepare.gateway import prepare  # noqa: PLC0415

    with temporary_run_folder() as (folder, stack):
        return list(try_actions(prepare(target, folder, 0, stack).context))


def _print(tried: Sequence[Tried], wrong: int) -> None:
    from gateproof.reports.terminal import screen  # noqa: PLC0415
    from gateproof.reports.verdicts import many  # noqa: PLC0415

    shown = screen(no_color=True)
    for each in tried:
        shown.fill(f"{each.action:<26} {each.outcome:<14} {each.said}", "", " " * 42)
    shown.say(f"{many(len(tried), 'action')}: {wrong or 'none'} wrong")
