"""`gateproof prove --mutants`: how many generated changes of the reference the suite notices."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.conformance.cli.folder import claimed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateproof.conformance.run.proof.mutation.mutant_proof import MutantProof
    from gateproof.reports.terminal import Screen

HOLDS, FAILS, WRONG_USAGE, COULD_NOT = 0, 1, 2, 3
# Options of a proof with the shipped defects.
_NOT_WITH = ("only", "new", "quick", "every_case", "ship", "combinations")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="machine-made changes of the reference in place of shipped defects; needs a checkout",
    )
    parser.add_argument(
        "--sample", type=_number, metavar="N", help="with --mutants: so many, drawn by --seed (default: all)"
    )


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 all caught or judged, 1 others survived, 2 wrong usage, 3 interrupted or not possible."""
    from gateproof.conformance.run.proof.mutation.mutant_proof import FILE, MutantProof  # noqa: PLC0415 - loads pytest
    from gateproof.conformance.run.proof.mutation.mutants import (  # noqa: PLC0415
        NoMutants,
        drawn,
        judged,
        mutants,
        stale,
    )

    given = [f"--{name.replace('_', '-')}" for name in _NOT_WITH if getattr(arguments, name)]
    if given:
        print(f"gateproof: --mutants does not go with {', '.join(given)}", file=sys.stderr)
        return WRONG_USAGE
    try:
        with claimed(arguments.out):
            found, known = mutants(arguments.role), judged(arguments.role)
            if old := stale(known, found):
                gone = "; ".join(f"{entry.file} {entry.function}" for entry in old)
                print(f"gateproof: judged survivors that are no mutants any more: {gone}", file=sys.stderr)
                return FAILS
            chosen = drawn(found, arguments.sample, arguments.seed)
            if arguments.shard is not None:
                chosen = [mutant for place, mutant in enumerate(chosen) if arguments.shard.holds(place)]
            shard = {} if arguments.shard is None else {"shard": str(arguments.shard)}
            proof = MutantProof(
                arguments.out / FILE,
                made_with={
                    "role": arguments.role,
                    "seed": arguments.seed,
                    "sample": arguments.sample,
                    **shard,
                },
                of=len(found),
                chosen=chosen,
                known=known,
            )
            if arguments.resume:
                proof.continue_from_file()
            return _tried(proof, arguments)
    except ValueError as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    except NoMutants as why:
        print(f"gateproof: {why}", file=sys.stderr)
        return COULD_NOT


def _tried(proof: MutantProof, arguments: argparse.Namespace) -> int:
    from gateproof.conformance.run.drive.signals import terminated_as_interrupted  # noqa: PLC0415 - loads with a proof
    from gateproof.conformance.run.prepare.fork_server import ForkServerEnded  # noqa: PLC0415
    from gateproof.conformance.run.proof.mutation.trials import attempt_mutant  # noqa: PLC0415
    from gateproof.conformance.run.proof.workers import in_workers  # noqa: PLC0415
    from gateproof.conformance.run.usual_workers import workers_of_a_proof  # noqa: PLC0415
    from gateproof.reports.terminal import Counting, screen  # noqa: PLC0415

    shown = screen(no_color=arguments.no_color)
    left = proof.left
    counting = Counting(shown, len(left), "mutants")
    workers = arguments.workers or workers_of_a_proof(arguments.role)
    calls = [(mutant, arguments.role, arguments.seed) for mutant in left]
    stopped = ""
    try:
        with (
            terminated_as_interrupted(),
            closing(in_workers(attempt_mutant, calls, workers=workers)) as working,
        ):
            for place, done in working:
                try:
                    trial = done.result()
                except Exception as broken:  # noqa: BLE001 - the other trials are worth keeping
                    stopped = f"the trial of {left[place].name} broke: {type(broken).__name__}: {broken}"
                    break
                proof.add(trial)
                counting.add(trial.mutant.name, failed=proof.survived(trial))
                if proof.survived(trial):
                    counting.end()
                    shown.say("\n    ".join([f"survived: {trial.mutant.name}", *trial.mutant.change]))
    except KeyboardInterrupt:
        stopped = "interrupted"
    except ForkServerEnded as ended:
        stopped = str(ended)
    counting.end()
    document = proof.keep()
    code = tell(shown, document["figures"], proof.path)
    if stopped:
        shown.say(f"{stopped}; --resume continues with the others")
        return COULD_NOT
    return code


def tell(shown: Screen, found: Mapping[str, int], path: Path) -> int:
    """Prints the figures; returns the exit code for them."""
    shown.say(
        f"{found['tried']} of {found['mutants']} mutants tried: {found['caught']} caught, "
        f"{found['equivalent']} equivalent, {found['legal']} legal, {found['survived']} survived, "
        f"{found['no_verdict']} without a verdict"
    )
    shown.say(f"mutants: {path}")
    return FAILS if found["survived"] else HOLDS


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 1")
    return int(text)
