"""`gateproof prove`: shows that the suite catches shipped defects and leaves legal choices alone."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.run.proof import Proof, Trial
    from reports.terminal import Screen

WRONG_USAGE = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "prove",
        help="run the suite against every shipped defect and legal variant",
        description="Runs the suite against shipped defects and variants; says which rule caught which.",
    )
    parser.add_argument("role", nargs="?", choices=("gateway",), default="gateway", help="default: gateway")
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="these defects and variants"
    )
    parser.add_argument(
        "--quick", action="store_true", help="only the rules that a defect names, and a smoke set"
    )
    parser.add_argument("--combinations", type=int, default=None, metavar="N", help="random sets of variants")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="at a time")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what combinations are drawn from")
    parser.add_argument(
        "--out", type=Path, default=Path("gateproof-proof"), metavar="DIR", help="for prove.json"
    )
    parser.add_argument("--no-color", action="store_true", help="no colours, whatever the terminal can")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 the proof holds, 1 it does not, 2 wrong usage."""
    from conformance.run.proof import prove  # noqa: PLC0415 - these load pytest and HTTP
    from conformance.run.subjects import NoRegistry, combinations, subjects  # noqa: PLC0415
    from reports.terminal import Counting, screen  # noqa: PLC0415

    shown = screen(no_color=arguments.no_color)
    try:
        found = subjects(arguments.role, arguments.only)
    except NoRegistry as missing:
        print(f"gateproof: {missing}", file=sys.stderr)
        return WRONG_USAGE
    if not found:
        print(f"gateproof: no defect or variant matches {', '.join(arguments.only)}", file=sys.stderr)
        return WRONG_USAGE
    count = arguments.combinations if arguments.combinations is not None else (0 if arguments.quick else 200)
    found += combinations([subject for subject in found if subject.kind == "variant"], count, arguments.seed)
    counting = Counting(shown, len(found), "gateways")

    def ended(trial: Trial) -> None:
        counting.add(trial.subject.name, failed=bool(trial.fault()))

    proof = prove(
        arguments.role,
        found,
        quick=arguments.quick,
        workers=max(1, arguments.workers),
        seed=arguments.seed,
        ended=ended,
    )
    counting.end()
    # A selection of defects says nothing of the checks that the others are for.
    _print(shown, proof, whole=not arguments.only)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "prove.json"
    path.write_text(json.dumps(proof.as_json(), indent=2) + "\n", encoding="utf-8")
    shown.say(f"proof: {path}")
    holds = proof.holds if not arguments.only else not any(trial.fault() for trial in proof.trials)
    return 0 if holds else 1


def _print(shown: Screen, proof: Proof, *, whole: bool) -> None:
    from reports.signs import SIGNS  # noqa: PLC0415 - loaded with the proof, not with the command line
    from reports.verdicts import Verdict  # noqa: PLC0415

    width = max(len(trial.subject.name) for trial in proof.trials if "+" not in trial.subject.name)
    for trial in proof.trials:
        fault = trial.fault()
        if "+" in trial.subject.name and not fault:
            continue
        sign = (
            shown.paint(SIGNS[Verdict.FAILED], "red")
            if fault
            else shown.paint(SIGNS[Verdict.PASSED], "green")
        )
        caught = ", ".join(trial.failed) or "nothing failed"
        shown.say(f"{sign} {trial.subject.kind:<8}{trial.subject.name:<{width}}  {caught}")
        if fault:
            shown.say(f"    {shown.paint(fault, 'red')}: {trial.subject.what}")
    figures = proof.as_json()["figures"]
    shown.say(f"{figures['caught']} of {figures['defects']} defects caught by their right rule")
    shown.say(f"{figures['left_alone']} of {figures['variants']} legal variants left alone")
    if whole:
        unseen = ", ".join(proof.unseen)
        shown.say(f"{len(proof.unseen)} checks never seen failing" + (f": {unseen}" if unseen else ""))
