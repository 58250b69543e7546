"""`gateproof prove --mutants`: how many changes of the reference that a machine made the suite notices."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.conformance.cli.folder import claimed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateproof.conformance.run.proof.mutation.mutants import Judged, Mutant
    from gateproof.conformance.run.proof.mutation.trials import MutantTrial
    from gateproof.reports.terminal import Screen

SCHEMA = "gateproof/mutants/1"
FILE = "mutants.json"
HOLDS, FAILS, WRONG_USAGE, COULD_NOT = 0, 1, 2, 3
# Options of a proof with the shipped defects.
_NOT_WITH = ("only", "new", "quick", "every_case", "ship", "resume", "combinations")


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
    from gateproof.conformance.run.proof.mutation.mutants import (  # noqa: PLC0415 - these load pytest and HTTP
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
            return _tried(arguments, drawn(found, arguments.sample, arguments.seed), len(found), known)
    except ValueError as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    except NoMutants as why:
        print(f"gateproof: {why}", file=sys.stderr)
        return COULD_NOT


def _tried(arguments: argparse.Namespace, chosen: Sequence[Mutant], of: int, known: Sequence[Judged]) -> int:
    from gateproof.conformance.run.drive.signals import terminated_as_interrupted  # noqa: PLC0415 - loads with a proof
    from gateproof.conformance.run.proof.mutation.trials import attempt_mutant  # noqa: PLC0415
    from gateproof.conformance.run.proof.workers import in_workers  # noqa: PLC0415
    from gateproof.conformance.run.usual_workers import workers_of_a_proof  # noqa: PLC0415
    from gateproof.reports.terminal import Counting, screen  # noqa: PLC0415

    shown = screen(no_color=arguments.no_color)
    counting = Counting(shown, len(chosen), "mutants")
    trials: list[MutantTrial] = []
    begun = time.monotonic()

    def ended(trial: MutantTrial) -> None:
        trials.append(trial)
        survived = not trial.caught_by and not _judgement(trial, known)
        counting.add(trial.mutant.name, failed=survived)
        if survived:
            counting.end()
            shown.say("\n    ".join([f"survived: {trial.mutant.name}", *trial.mutant.change]))

    workers = arguments.workers or workers_of_a_proof(arguments.role)
    calls = [(mutant, arguments.role, arguments.seed) for mutant in chosen]
    stopped = False
    try:
        with (
            terminated_as_interrupted(),
            closing(in_workers(attempt_mutant, calls, workers=workers)) as working,
        ):
            for _, done in working:
                ended(done.result())
    except KeyboardInterrupt:
        stopped = True
    counting.end()
    document = _document(arguments, trials, of, known, round(time.monotonic() - begun, 1))
    path: Path = arguments.out / FILE
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return _said(shown, document["figures"], path, stopped=stopped)


def _document(
    arguments: argparse.Namespace,
    trials: Sequence[MutantTrial],
    of: int,
    known: Sequence[Judged],
    took_s: float,
) -> dict[str, Any]:
    became = [trial.caught_by or _judgement(trial, known) or "survived" for trial in trials]
    apart = {"equivalent", "legal", "survived", "no verdict"}
    counts = Counter(each if each in apart else "caught" for each in became)
    return {
        "schema": SCHEMA,
        "role": arguments.role,
        "seed": arguments.seed,
        "took_s": took_s,
        "figures": {
            "mutants": of,
            "tried": len(trials),
            **{name: counts[name] for name in ("caught", "equivalent", "legal", "survived")},
            # They could not be put to the test: no rule has caught them.
            "no_verdict": counts["no verdict"],
        },
        "trials": [trial.as_json() | {"judged": _judgement(trial, known)} for trial in trials],
    }


def _judgement(trial: MutantTrial, known: Sequence[Judged]) -> str:
    found = (entry.kind for entry in known if not trial.caught_by and entry.is_of(trial.mutant))
    return next(found, "")


def _said(shown: Screen, figures: dict[str, int], path: Path, *, stopped: bool) -> int:
    shown.say(
        f"{figures['tried']} of {figures['mutants']} mutants tried: {figures['caught']} caught, "
        f"{figures['equivalent']} equivalent, {figures['legal']} legal, {figures['survived']} survived, "
        f"{figures['no_verdict']} without a verdict"
    )
    shown.say(f"mutants: {path}")
    if stopped:
        shown.say("interrupted: the other mutants were not tried")
        return COULD_NOT
    return FAILS if figures["survived"] else HOLDS


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 1")
    return int(text)
