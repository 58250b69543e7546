"""`gateproof prove`: shows that the suite catches shipped defects and passes legal variants."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.conformance.cli import prove_mutants
from gateproof.conformance.cli.folder import claimed
from gateproof.conformance.cli.shards import shard
from gateproof.conformance.run.drive.signals import terminated_as_interrupted
from gateproof.reports.verdicts import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateproof.conformance.run.proof.implementations import Subject
    from gateproof.conformance.run.proof.proof import Proof
    from gateproof.conformance.run.proof.runs import Trial
    from gateproof.conformance.run.proof.scope import Effort
    from gateproof.conformance.run.proof.since import Since
    from gateproof.reports.terminal import Screen

# The default number of combinations: enough to have every variant in one, where variants decide the same.
COMBINATIONS = {"gateway": 40, "service": 40, "agent": 24}
WRONG_USAGE = 2
MOST_WORKERS = 256
# A killed proof loses at most this number of trials.
_KEPT_EVERY = 20
INTERRUPTED = 3
INTERCEPTING = "intercepting-proxy"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "prove",
        help="run the suite against every shipped defect and legal variant",
        description="Runs the suite against shipped defects and variants; says which rule caught which.",
        epilog="Exit codes: 0 the proof holds, 1 it does not, 2 wrong usage, "
        "3 interrupted, broken, a race that did not overlap, or times that were unclear.",
    )
    parser.add_argument(
        "role", nargs="?", choices=("gateway", "service", "agent"), default="gateway", help="default: gateway"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="only these defects and variants"
    )
    parser.add_argument(
        "--new", action="store_true", help="only defects and variants that are not in the shipped proof"
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick",
        action="store_true",
        help="for each defect the most specific check that caught it, for some also a few basic checks",
    )
    effort.add_argument(
        "--every-case", action="store_true", help="every case of every check for everything; takes hours"
    )
    parser.add_argument(
        "--ship",
        action="store_true",
        help="store a full proof that holds as the shipped proof; with --new, add to it; with --new --quick, "
        "add the defects only",
    )
    parser.add_argument(
        "--since",
        action="store_true",
        help="only what changed since the shipped proof; the rest is carried over from it",
    )
    parser.add_argument("--resume", action="store_true", help="continue the interrupted proof in --out")
    parser.add_argument(
        "--shard",
        type=shard,
        metavar="K/N|auto",
        help="the K-th of N parts, see gateproof merge; auto: as the CI system numbers its parallel jobs",
    )
    parser.add_argument(
        "--combinations",
        type=int,
        default=None,
        metavar="N",
        help="sets of variants that get all checks together",
    )
    parser.add_argument(
        "--workers",
        type=_workers,
        metavar="N",
        help="parallel trials (default: depends on processors and memory)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed for random choices")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("gateproof-proof"),
        metavar="DIR",
        help="the folder for prove.json (default: gateproof-proof)",
    )
    parser.add_argument("--no-color", action="store_true", help="no colours")
    prove_mutants.add_options(parser)
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit codes: 0 holds, 1 does not, 2 wrong usage, 3 interrupted, broken, or no overlap in a race."""
    if arguments.mutants:
        return prove_mutants.handle(arguments)
    if arguments.sample is not None:
        print("gateproof: --sample goes with --mutants", file=sys.stderr)
        return WRONG_USAGE
    from gateproof.conformance.faults.intercept.finding import HOW_TO_GET_IT, mitmdump  # noqa: PLC0415
    from gateproof.conformance.run.proof.implementations import NoRegistry  # noqa: PLC0415
    from gateproof.conformance.run.proof.resume import trials_of  # noqa: PLC0415
    from gateproof.conformance.run.proof.scope import asks_for  # noqa: PLC0415 - these load pytest and HTTP

    effort = effort_of(arguments)
    ended: list[Trial] = []
    before_s = 0.0
    with ExitStack() as holding:
        try:
            chosen = _chosen(arguments)
            found = chosen.found
            holding.enter_context(claimed(arguments.out))
            if arguments.resume:
                ended, before_s = trials_of(
                    _path(arguments),
                    found,
                    role=arguments.role,
                    effort=effort,
                    seed=arguments.seed,
                    shard=_shard(arguments),
                    since="" if chosen.since is None else chosen.since.shipped,
                )
        except (NoRegistry, ValueError) as wrong:
            print(f"gateproof: {wrong}", file=sys.stderr)
            return WRONG_USAGE
        if mitmdump() is None and asks_for(INTERCEPTING, found, arguments.role, effort, arguments.seed):
            print(f"gateproof: this proof needs the intercepting proxy: {HOW_TO_GET_IT}", file=sys.stderr)
            return INTERRUPTED
        return _proven(arguments, chosen, effort, ended, before_s)


def effort_of(arguments: argparse.Namespace) -> Effort:
    from gateproof.conformance.run.proof.scope import Effort  # noqa: PLC0415 - loads pytest and HTTP

    return Effort.QUICK if arguments.quick else Effort.EVERY_CASE if arguments.every_case else Effort.FULL


def _proven(
    arguments: argparse.Namespace,
    chosen: _Chosen,
    effort: Effort,
    ended: list[Trial],
    before_s: float,
) -> int:
    """Runs the remaining trials and prints the result."""
    from gateproof.conformance.run.prepare.fork_server import ForkServerEnded  # noqa: PLC0415
    from gateproof.conformance.run.proof.proof import Outcome, Proof, ProofBroke, prove  # noqa: PLC0415 - loads pytest, HTTP
    from gateproof.conformance.run.usual_workers import workers_of_a_proof  # noqa: PLC0415
    from gateproof.reports.terminal import Counting, screen  # noqa: PLC0415

    shown, found = screen(no_color=arguments.no_color), chosen.found
    left = [subject for subject in found if subject not in {trial.subject for trial in ended}]
    counting = Counting(shown, len(left), f"{arguments.role}s")
    started = time.monotonic()

    def kept() -> Proof:
        """Saves the trials so far, in the order of the registry, for --resume."""
        by_subject = {trial.subject: trial for trial in ended}
        proof = Proof(
            role=arguments.role,
            effort=effort,
            seed=arguments.seed,
            trials=tuple(by_subject[subject] for subject in found if subject in by_subject),
            complete=len(by_subject) == len(found),
            took_s=round(before_s + time.monotonic() - started, 1),
            selected=arguments.new or bool(arguments.only),
            shard=_shard(arguments),
            of=chosen.of,
            drawn=chosen.drawn,
            since=chosen.since,
        )
        keep(proof, arguments.out)
        return proof

    def note(trial: Trial) -> None:
        ended.append(trial)
        if len(ended) % _KEPT_EVERY == 0:
            kept()
        counting.add(trial.subject.name, failed=bool(trial.fault()))
        if fault := trial.fault():
            # Print a fault at once, because a proof can take hours.
            counting.end()
            shown.say(f"{trial.subject.name}: {fault}")

    stopped = "interrupted"
    try:
        with suppress(KeyboardInterrupt), terminated_as_interrupted():
            prove(
                arguments.role,
                left,
                effort=effort,
                workers=workers_of_a_proof(arguments.role)
                if arguments.workers is None
                else arguments.workers,
                seed=arguments.seed,
                ended=note,
                parts=None if chosen.since is None else chosen.since.left,
            )
    except (ProofBroke, ForkServerEnded) as broke:
        stopped = str(broke)
    counting.end()
    proof = kept()
    tell(shown, proof)
    shown.say(f"proof: {_path(arguments)}")
    if not proof.complete:
        tried = f"{len(proof.trials)} of {len(found)} {arguments.role}s were tried"
        shown.say(f"{stopped}: {tried}; --resume continues with the others")
        return INTERRUPTED
    outcome = proof.outcome()
    if outcome is not Outcome.HOLDS:
        return outcome
    if arguments.ship:
        _ship(proof, add=arguments.new)
    return 0


def _workers(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 1 to {MOST_WORKERS}")
    return int(text)


def _path(arguments: argparse.Namespace) -> Path:
    from gateproof.conformance.run.proof.proof import FILE  # noqa: PLC0415 - loads pytest and HTTP

    found: Path = arguments.out / FILE
    return found


def _shard(arguments: argparse.Namespace) -> str:
    return "" if arguments.shard is None else str(arguments.shard)


def keep(proof: Proof, folder: Path) -> None:
    """Writes the file atomically, so that a full disk or a kill leaves the old content."""
    from gateproof.conformance.run.proof.proof import FILE  # noqa: PLC0415 - loads pytest and HTTP

    path = folder / FILE
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(proof.as_json(), indent=2) + "\n", encoding="utf-8")
    beside.replace(path)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chosen:
    """The subjects of this process, their total number in all shards, and the number of combinations.

    `since` is set if only subjects and checks that changed since the shipped proof are tried.
    """

    found: Sequence[Subject]
    of: int
    drawn: int
    since: Since | None = None


def _chosen(arguments: argparse.Namespace) -> _Chosen:
    """The selected defects and variants; raises ValueError if nothing is left, or too little for --ship."""
    from gateproof.conformance.run.proof.implementations import subjects, with_combinations  # noqa: PLC0415
    from gateproof.conformance.run.proof.shares import share  # noqa: PLC0415
    from gateproof.conformance.suite.proven import proven  # noqa: PLC0415

    in_part = not arguments.new and (arguments.only or arguments.quick)
    if arguments.ship and (in_part or arguments.combinations is not None):
        raise ValueError("--ship needs a full proof, or --new: leave out --only, --quick and --combinations")
    if arguments.ship and arguments.shard is not None:
        raise ValueError("--ship needs a whole proof: merge the shards, then --resume --ship with its folder")
    found = subjects(arguments.role, arguments.only)
    if not found:
        raise ValueError(f"no defect or variant matches {', '.join(arguments.only)}")
    if arguments.new:
        found = [subject for subject in found if not _is_known(arguments.role, subject)]
    if not found:
        what = "all that --only selects" if arguments.only else "every defect and variant"
        raise ValueError(f"the shipped proof has {what}: nothing is left for --new")
    usual = 0 if arguments.quick or _selected(arguments) else COMBINATIONS[arguments.role]
    count = usual if arguments.combinations is None else arguments.combinations
    every = with_combinations(found, count, arguments.seed)
    if arguments.since:
        return _changed(arguments, every, count)
    if arguments.shard is None:
        return _Chosen(found=every, of=len(every), drawn=count)
    own = share(every, arguments.shard, proven(arguments.role).defects)
    if not own:
        raise ValueError(
            f"shard {arguments.shard} has nothing to try: found {len(every)} defects and variants"
        )
    return _Chosen(found=own, of=len(every), drawn=count)


def _changed(arguments: argparse.Namespace, every: Sequence[Subject], drawn: int) -> _Chosen:
    """What has to be tried again since the shipped proof; raises ValueError if that cannot be determined."""
    from gateproof.conformance.run.proof.since import since_the_shipped  # noqa: PLC0415 - loads pytest and HTTP

    unfit = {"--shard": arguments.shard is not None, "--new": arguments.new}
    if given := [option for option, is_given in unfit.items() if is_given]:
        raise ValueError(f"--since does not go with {', '.join(given)}")
    since = since_the_shipped(arguments.role, every, effort_of(arguments), arguments.seed)
    return _Chosen(found=list(since.left), of=len(since.left), drawn=drawn, since=since)


def _selected(arguments: argparse.Namespace) -> bool:
    return arguments.new or bool(arguments.only)


def _is_known(role: str, subject: Subject) -> bool:
    """True if the shipped proof has the subject, and every check of its rule has been seen to fail."""
    from gateproof.conformance.checks import index  # noqa: PLC0415 - these load with the proof
    from gateproof.conformance.suite.proven import proven  # noqa: PLC0415

    shipped = proven(role)
    if subject.kind == "variant":
        return subject.name in shipped.variants
    checks = {case.partition("[")[0] for check in index(role)[subject.rules[0]] for case in check.ids()}
    return subject.name in shipped.defects and checks <= shipped.seen()


def _ship(proof: Proof, *, add: bool) -> None:
    from gateproof.conformance.suite.proven import place, ship  # noqa: PLC0415

    path = place(proof.role)
    before = json.loads(path.read_bytes()) if path.is_file() else None
    shipped = proof.added_to(before) if add and before is not None else proof.to_ship(before)
    ship(proof.role, shipped)


def tell(shown: Screen, proof: Proof) -> None:
    """Prints the trials and the figures of a proof."""
    from gateproof.reports.symbols import SIGNS  # noqa: PLC0415 - loaded with the proof, not with the command line
    from gateproof.reports.verdicts import Verdict  # noqa: PLC0415

    width = max((len(each.subject.name) for each in proof.trials if not each.subject.combined), default=0)
    # Faults last, because a CI log shows its end.
    for trial in sorted(proof.trials, key=lambda trial: bool(trial.fault())):
        fault = trial.fault()
        if trial.subject.combined and not fault:
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
    if proof.since is not None:
        shown.say(f"since the shipped proof {proof.since.shipped[:12]}: {proof.since.why}")
    figures = proof.as_json()["figures"]
    shown.say(f"{figures['caught']} of {figures['defects']} defects caught by their right rule, and no other")
    shown.say(f"{figures['left_alone']} of {figures['variants']} legal variants left alone")
    if proof.whole:
        unseen = ", ".join(proof.unseen)
        shown.say(
            f"{many(len(proof.unseen), 'check')} never seen failing" + (f": {unseen}" if unseen else "")
        )
    shown.say(f"took {proof.took_s:.0f} s")
