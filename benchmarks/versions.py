"""Compares whole runs of two checkouts of this project: time, processor time by party, exchanges, memory.

This checkout runs twice: with the checks that the other one has, too, and with all of its own. The runs
alternate, so that a busy machine slows all of them. The other checkout needs its own environment: `make run`
there. Without one, only this checkout is measured.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from processes import HARNESS
from stored import add_options, keep, shown, table_of, with_circumstances
from whole_runs import LIMIT_S, ROOT, WholeRun, commit, whole_run

from gateproof.conformance.run.drive.session import planned
from gateproof.conformance.suite import rules

NAME = "versions"
# The uncounted first run of each, which fills the file cache and compiles modules.
_SHORT = ("--only", "DISC-0[12]")


@dataclass(frozen=True, kw_only=True)
class Run:
    """The figures of one run."""

    wall_s: float
    processor_s: float
    processor_s_of: Mapping[str, float]
    memory_mb: float
    pss_mb: float
    checks: int
    exchanges: int


def figures(run: WholeRun) -> Run:
    used = run.usage
    return Run(
        wall_s=used.wall_s,
        processor_s=used.processor_s,
        processor_s_of=used.processor_s_of,
        memory_mb=used.memory_mb,
        pss_mb=used.pss_mb,
        checks=run.checks,
        exchanges=run.exchanges,
    )


def _of(name: str) -> Callable[[Run], float]:
    return lambda run: run.processor_s_of.get(name, 0.0)


def _seen(run: Run) -> float:
    return sum(run.processor_s_of.values())


# The rows of the table: a label, what is measured, and the number of decimals.
ROWS: tuple[tuple[str, Callable[[Run], float], int], ...] = (
    ("wall, s", lambda run: run.wall_s, 1),
    ("processor time, s", lambda run: run.processor_s, 1),
    *((f"— of the {name}, s", _of(name), 1) for name in (HARNESS, "gateway", "merchant", "proxy")),
    ("— not seen by samples, s", lambda run: run.processor_s - _seen(run), 1),
    ("checks", lambda run: run.checks, 0),
    ("exchanges", lambda run: run.exchanges, 0),
    ("wall per exchange, ms", lambda run: 1000 * run.wall_s / max(run.exchanges, 1), 2),
    ("processor time per exchange, ms", lambda run: 1000 * run.processor_s / max(run.exchanges, 1), 2),
    ("wall per check, ms", lambda run: 1000 * run.wall_s / max(run.checks, 1), 1),
    ("processor time per check, ms", lambda run: 1000 * run.processor_s / max(run.checks, 1), 1),
    ("peak of all resident sizes (RSS), MB", lambda run: run.memory_mb, 0),
    ("peak, shared pages counted once (PSS), MB", lambda run: run.pss_mb, 0),
)


def table(runs: Mapping[str, Sequence[Run]]) -> str:
    """A row for each measure: the median and the range of each column, and its ratio to the first one."""
    first, *others = runs
    titles = ["median (least to most)", first, *(title for name in others for title in (name, "ratio"))]
    lines = ["| " + " | ".join(titles) + " |", "|---|" + "--:|" * (len(titles) - 1)]
    for label, measure, decimals in ROWS:
        values = {name: [measure(run) for run in runs[name]] for name in runs}
        before = statistics.median(values[first])
        cells = [_cell(values[first], decimals)]
        for name in others:
            cells += [_cell(values[name], decimals), _ratio(statistics.median(values[name]), before)]
        lines.append("| " + " | ".join([label, *cells]) + " |")
    return "\n".join(lines)


def _cell(values: Sequence[float], decimals: int) -> str:
    middle, least, most = (
        f"{value:,.{decimals}f}" for value in (statistics.median(values), min(values), max(values))
    )
    return middle if least == most else f"{middle} ({least} to {most})"


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}" if other else ""


@dataclass(frozen=True, kw_only=True)
class Column:
    """What runs for one column of the table: a checkout, and the rules and checks that it runs."""

    checkout: Path
    only: Sequence[str]
    chosen: Collection[str] | None = None


def columns(
    beside: Path | None, older: Collection[str], own: Collection[str], only: Sequence[str]
) -> dict[str, Column]:
    """The columns by title: the older checkout, then this one with the checks of both, and with all of its.

    Without another checkout, or if this one has no other checks, there is one column of this one.
    """
    every = Column(checkout=ROOT, only=only)
    if beside is None:
        return {f"`{commit(ROOT)}`": every}
    both = set(older) & set(own)
    same = Column(checkout=ROOT, only=sorted({check.partition("/")[0] for check in both}), chosen=both)
    found = {
        f"`{commit(beside)}`": Column(checkout=beside, only=only),
        f"`{commit(ROOT)}`, the same checks": same,
    }
    return found | ({f"`{commit(ROOT)}`, all checks": every} if set(own) > both else {})


def differences(older: Collection[str], own: Collection[str]) -> str:
    """How many checks and rules came since, and which checks only the older checkout has."""
    since, gone = sorted(set(own) - set(older)), sorted(set(older) - set(own))
    before = {check.partition("/")[0] for check in older}
    new = {check.partition("/")[0] for check in since} - before
    text = f"{len(since)} checks came since, {_of_new_rules(since, new)} of them in {len(new)} new rules."
    return f"{text} {len(gone)} checks are in the older checkout only." if gone else text


def _of_new_rules(checks: Sequence[str], new: Collection[str]) -> int:
    return sum(check.partition("/")[0] in new for check in checks)


def words(arguments: argparse.Namespace, only: Sequence[str]) -> list[str]:
    """The arguments of a run."""
    given = ["--seed", str(arguments.seed), "--workers", str(arguments.workers)]
    return given + [word for glob in only for word in ("--only", glob)]


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs every column in each round, and returns what is stored."""
    beside = None if arguments.beside is None else arguments.beside.resolve()
    own = planned(rules.select(rules.load().for_role("gateway"), arguments.only), "gateway")
    whole_run(ROOT, *_SHORT, limit_s=arguments.limit)
    older: Collection[str] = ()
    if beside is not None:
        # This run is not counted, and says which checks the other checkout has.
        older = whole_run(beside, *words(arguments, arguments.only), limit_s=arguments.limit).seconds_of
    ran = columns(beside, older, own, arguments.only)
    runs: dict[str, list[Run]] = {name: [] for name in ran}
    for turn in range(arguments.rounds):
        # The order alternates.
        for name, column in list(ran.items())[:: -1 if turn % 2 else 1]:
            given = words(arguments, column.only)
            run = figures(whole_run(column.checkout, *given, limit_s=arguments.limit, chosen=column.chosen))
            runs[name].append(run)
            said = f"{run.wall_s:.1f} s, {run.processor_s:.1f} s of processor time"
            print(f"round {turn + 1}, {name}: {said}", file=sys.stderr, flush=True)
    return {
        "rounds": arguments.rounds,
        "workers": arguments.workers,
        "differences": differences(older, own) if beside is not None else "",
        "runs": {name: [asdict(run) for run in each] for name, each in runs.items()},
    }


def drawn(results: Mapping[str, Any]) -> str:
    """The stored results as Markdown."""
    runs = {name: [Run(**run) for run in each] for name, each in results["runs"].items()}
    below = f"{results['rounds']} runs of each with {results['workers']} workers. {results['differences']}"
    return f"{table(runs)}\n\n{below.rstrip()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="another checkout, with its .venv")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="of each run (default: 2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of each run (default: 1)")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="with these rules")
    parser.add_argument(
        "--limit", type=float, default=LIMIT_S, metavar="S", help=f"of one run (default: {LIMIT_S:.0f})"
    )
    add_options(parser, NAME)
    arguments = parser.parse_args()
    if arguments.table:
        print(table_of(NAME, drawn))
        return 0
    results = with_circumstances(measured(arguments))
    if arguments.keep:
        keep(NAME, results)
    print(shown(results, drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
