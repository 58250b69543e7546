"""Runs the suite with several seeds, each in another order, and compares the verdicts of all checks.

Tested are the reference, and the defects and variants that are named: a defect with the checks of its
declared rules, everything else with all checks. The exit code is 1 if a verdict differs from that of the
first run, and 3 if the time was over before all runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from busy import busy
from stored import add_options, keep, kept, shown, table_of, with_circumstances

from gateproof.conformance.run.context.embedded import Embedded, embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.proof.implementations import Subject, subjects
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.vocabulary import ROLES
from gateproof.reports.verdicts import CheckResult, Verdict

NAME = "steady"
NOT_RUN = "not run"
UNFINISHED = 3
# Check IDs with their verdicts.
Verdicts = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run: its verdicts, and why it ended early, if it did."""

    verdicts: Verdicts
    cut_short: str


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The runs of one implementation; `flips` has the verdicts by seed of each check that changed its own."""

    name: str
    runs: int
    checks: int
    # How many checks failed in the first run.
    failed: int
    flips: Mapping[str, Mapping[str, str]]


def verdicts_of(checks: Sequence[CheckResult]) -> dict[str, str]:
    """The verdict of each check; of one that is asked of several instances, all of its verdicts."""
    found: dict[str, set[str]] = {}
    for check in checks:
        found.setdefault(check.id, set()).add(check.verdict.value)
    return {check: " and ".join(sorted(verdicts)) for check, verdicts in found.items()}


def flips(runs: Mapping[int, Verdicts]) -> dict[str, dict[str, str]]:
    """The verdicts by seed of each check that differs in any run from the first one."""
    first = next(iter(runs.values()), {})
    every = sorted({check for verdicts in runs.values() for check in verdicts})
    return {
        check: {str(seed): verdicts.get(check, NOT_RUN) for seed, verdicts in runs.items()}
        for check in every
        if any(verdicts.get(check, NOT_RUN) != first.get(check, NOT_RUN) for verdicts in runs.values())
    }


def compared(name: str, runs: Mapping[int, Verdicts]) -> Compared:
    first = next(iter(runs.values()), {})
    failed = sum(verdict == Verdict.FAILED for verdict in first.values())
    return Compared(name=name, runs=len(runs), checks=len(first), failed=failed, flips=flips(runs))


def one_run(
    role: str, subject: Subject | None, only: Sequence[str], workers: int, seed: int, limit_s: float
) -> Seen:
    """A run in a random order."""
    asked = embedded_reference(role) if subject is None else _embedded(role, subject)
    selected = rules.select(rules.load().for_role(role), only)
    options = RunOptions(
        role=role, seed=seed, workers=workers, shuffle=True, exchanges=False, max_minutes=limit_s / 60
    )
    with TemporaryDirectory(prefix="gateproof-steady-") as folder:
        result = carry_out(asked, selected, options, lambda _: None, Path(folder))
    checks = [check for rule in result.rules for check in rule.checks]
    return Seen(verdicts=verdicts_of(checks), cut_short=str(result.run["cut_short"] or ""))


def in_a_process_of_its_own(*given: Any) -> Seen:
    """A run in a new process, because a run leaves much memory behind."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(one_run, *given).result()


def _embedded(role: str, subject: Subject) -> Embedded:
    return Embedded(name=subject.name, program=subject.program(role), operation=subject.operation)


def named(role: str, defects: Sequence[str], variants: Sequence[str]) -> list[Subject]:
    """The defects and variants of these names."""
    found: dict[tuple[str, str], Subject] = {(each.kind, each.name): each for each in subjects(role)}
    wanted = [*(("defect", name) for name in defects), *(("variant", name) for name in variants)]
    if missing := [name for kind, name in wanted if (kind, name) not in found]:
        raise ValueError(f"no such defect or variant: {', '.join(missing)}")
    return [found[each] for each in wanted]


def seen(arguments: argparse.Namespace, subject: Subject | None, until: float) -> Iterator[tuple[int, Seen]]:
    """The runs of one implementation until the time is over, by seed."""
    only = subject.rules if subject is not None and subject.kind == "defect" else arguments.only
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        left_s = until - time.monotonic()
        if left_s <= 0:
            return
        run = in_a_process_of_its_own(arguments.role, subject, only, arguments.workers, seed, left_s)
        if run.cut_short:
            print(f"seed {seed} was cut short: {run.cut_short}", file=sys.stderr, flush=True)
            return
        yield seed, run


def measured(arguments: argparse.Namespace, asked: Sequence[Subject | None]) -> list[Compared]:
    """The comparison of each implementation; each run is told on stderr."""
    until, found = time.monotonic() + arguments.limit, list[Compared]()
    for subject in asked:
        name = f"reference {arguments.role}" if subject is None else f"{subject.kind} {subject.name}"
        runs: dict[int, Verdicts] = {}
        for seed, run in seen(arguments, subject, until):
            runs[seed] = run.verdicts
            differing = len(flips(runs))
            said = f"{name}, seed {seed}: {len(run.verdicts)} checks, {differing} have changed their verdict"
            print(said, file=sys.stderr, flush=True)
        found.append(compared(name, runs))
    return found


def drawn(results: Mapping[str, Any]) -> str:
    """The stored results as Markdown, with a row for each implementation and load."""
    lines = [
        "| implementation | other busy processes | shuffled runs | checks | failed | changed their verdict |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for load, found in results["found"].items():
        lines += [
            f"| {each['name']} | {load} | {each['runs']} | {each['checks']:,} | {each['failed']} |"
            f" {_told(each['flips'])} |"
            for each in found
        ]
    return "\n".join(lines)


def _told(changed: Mapping[str, Mapping[str, str]]) -> str:
    return "<br>".join(f"`{check}`: {_by_verdict(verdicts)}" for check, verdicts in changed.items()) or "none"


def _by_verdict(verdicts: Mapping[str, str]) -> str:
    """Each verdict with its seeds."""
    seeds: dict[str, list[str]] = {}
    for seed, verdict in verdicts.items():
        seeds.setdefault(verdict, []).append(seed)
    return "; ".join(f"{verdict} with seed {', '.join(each)}" for verdict, each in seeds.items())


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("role", nargs="?", default="gateway", choices=ROLES)
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="runs of each (default: 20)")
    parser.add_argument("--first", type=int, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="next to so many busy processes")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="of each run (default: 2)")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="with these rules")
    parser.add_argument("--defect", action="append", default=[], metavar="NAME", help="also this defect")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME", help="also this variant")
    parser.add_argument("--no-reference", action="store_true", help="only the named defects and variants")
    parser.add_argument(
        "--limit", type=float, default=3600, metavar="S", help="of all runs together (default: 3600)"
    )
    add_options(parser, NAME)
    arguments = parser.parse_args(argv)
    if arguments.table:
        print(table_of(NAME, drawn))
        return 0
    try:
        asked = [None, *named(arguments.role, arguments.defect, arguments.variant)]
    except ValueError as wrong:
        parser.error(str(wrong))
    with busy(arguments.busy):
        found = measured(arguments, asked[1:] if arguments.no_reference else asked)
    load = str(arguments.busy)
    results = with_circumstances({"found": {load: [asdict(each) for each in found]}})
    if arguments.keep:
        # Results with another load stay.
        before = (kept(NAME) or {}).get("found", {})
        keep(NAME, {**results, "found": {**before, **results["found"]}})
    print(shown(results, drawn))
    if any(each.flips for each in found):
        return 1
    return UNFINISHED if any(each.runs < arguments.seeds for each in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
