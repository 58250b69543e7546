"""`gateproof run`: puts a target to the test."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.rules import Rule
    from conformance.run.embedded import Embedded
    from conformance.run.options import RunOptions
    from conformance.target.model import Target
    from reports.verdicts import CheckResult

ROLES = ("gateway", "service", "agent")
WRONG_USAGE = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="put a target to the test; without --target, the embedded reference",
        description="Runs the suite against a target, or against the embedded reference.",
    )
    parser.add_argument("role", nargs="?", choices=ROLES, help="what the target is (default: gateway)")
    parser.add_argument("--target", type=Path, metavar="FILE", help="the target file; see gateproof init")
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="only these rules (repeatable)"
    )
    parser.add_argument(
        "--skip", action="append", default=[], metavar="GLOB", help="not these rules (repeatable)"
    )
    parser.add_argument(
        "--workers", type=_workers, default=1, metavar="N|auto", help="processes that ask (default: 1)"
    )
    parser.add_argument("--seed", type=_seed, metavar="N", help="repeats what a run with this seed chose")
    parser.add_argument(
        "--shuffle", action="store_true", help="run the checks in an order drawn from the seed"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("gateproof-report"), metavar="DIR", help="where the report goes"
    )
    parser.add_argument("--strict", action="store_true", help="rfc rules decide too")
    parser.add_argument("--certify", action="store_true", help="every deciding rule has to be tested")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first deciding failure")
    parser.add_argument("--quiet", action="store_true", help="print the verdict only")
    parser.add_argument("--no-color", action="store_true", help="no colours, whatever the terminal can")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 conformant, 1 not, 2 wrong usage, 3 no verdict, 4 incomplete."""
    # These load pytest, HTTP and cryptography: not before somebody asks for a run.
    from conformance import rules  # noqa: PLC0415
    from conformance.run.embedded import Embedded  # noqa: PLC0415
    from conformance.run.options import RunOptions  # noqa: PLC0415
    from conformance.run.session import fresh_seed  # noqa: PLC0415
    from conformance.target.errors import TargetError  # noqa: PLC0415
    from conformance.target.model import GatewayTarget  # noqa: PLC0415

    try:
        target = _target(arguments)
        role = target.role if target is not None else arguments.role or "gateway"
        selected = rules.select(rules.load().for_role(role), arguments.only, arguments.skip)
        if arguments.certify and (arguments.only or arguments.skip):
            raise ValueError(
                "--certify speaks for the whole catalogue: it goes with neither --only nor --skip"
            )
        if not selected:
            raise ValueError("--only and --skip leave no rule")
        _writable(arguments.out)
    except (TargetError, ValueError) as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    options = RunOptions(
        role=role,
        only=tuple(arguments.only),
        skip=tuple(arguments.skip),
        # One person signs in at one terminal.
        workers=1
        if isinstance(target, GatewayTarget) and target.sign_in.kind == "manual"
        else arguments.workers,
        seed=arguments.seed if arguments.seed is not None else fresh_seed(),
        out=arguments.out,
        strict=arguments.strict,
        certify=arguments.certify,
        fail_fast=arguments.fail_fast,
        shuffle=arguments.shuffle,
        quiet=arguments.quiet,
        no_color=arguments.no_color,
    )
    return _run(
        target or Embedded(name=f"embedded reference {role}"),
        selected,
        options,
        again=_again(arguments, options),
    )


def _run(target: Target | Embedded, selected: tuple[Rule, ...], options: RunOptions, *, again: str) -> int:
    from conformance.run.session import carry_out, planned  # noqa: PLC0415
    from reports.files import write_reports  # noqa: PLC0415
    from reports.terminal import Counting, failures, screen, summary  # noqa: PLC0415
    from reports.verdicts import Verdict  # noqa: PLC0415

    shown = screen(no_color=options.no_color)
    checks = planned(selected, options.role)
    if not options.quiet:
        shown.say(f"gateproof puts {target.name} to the test as {options.role}")
        shown.say(f"{len(checks)} checks of {len(selected)} rules, seed {options.seed}")
    counting = Counting(shown, len(checks), "checks", silent=options.quiet)

    def ended(check: CheckResult) -> None:
        counting.add(check.rule, failed=check.verdict in {Verdict.FAILED, Verdict.ERROR})

    result = carry_out(target, selected, options, ended)
    counting.end()
    written = write_reports(result, options.out)
    if options.quiet:
        shown.say(f"{result.verdict.value}: {result.reason}")
    else:
        failures(shown, result, again=again)
        summary(shown, result)
        shown.say(f"report: {', '.join(str(path) for path in written)}")
    return result.verdict.exit_code


def _target(arguments: argparse.Namespace) -> Target | None:
    from conformance.signin import check_usable  # noqa: PLC0415
    from conformance.target.errors import TargetError  # noqa: PLC0415
    from conformance.target.file import load  # noqa: PLC0415
    from conformance.target.model import GatewayTarget  # noqa: PLC0415

    if arguments.target is None:
        return None
    target = load(arguments.target)
    if isinstance(target, GatewayTarget):
        check_usable(target)
    if arguments.role is not None and target.role != arguments.role:
        raise TargetError(
            str(arguments.target), "role", f"{target.role!r}", f"{arguments.role!r}, as the command says"
        )
    return target


def _writable(folder: Path) -> None:
    """Finds out before the run whether its report can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".gateproof-probe"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise ValueError(
            f"--out {folder}: {problem.strerror}; expected a folder that can be written"
        ) from problem


def _again(arguments: argparse.Namespace, options: RunOptions) -> str:
    """The command that repeats this run, to which a selection can be added."""
    words = ["gateproof", "run", *([arguments.role] if arguments.role else [])]
    if arguments.target is not None:
        words += ["--target", str(arguments.target)]
    return shlex.join([*words, "--seed", str(options.seed)])


def _workers(text: str) -> int:
    if text == "auto":
        return max(1, min(os.cpu_count() or 1, 8))
    return _number(text, "a number of processes or auto", 1, 64)


def _seed(text: str) -> int:
    return _number(text, "a number from 0 to 4294967295", 0, 2**32 - 1)


def _number(text: str, expected: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}")
    return int(text)
