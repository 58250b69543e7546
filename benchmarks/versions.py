"""Compares whole runs of two checkouts of this project: time, processor time by party, exchanges, memory.

The runs of both alternate, so that a busy machine slows both. The other checkout needs its own environment:
`make run` there. Without one, only this checkout is measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from processes import HARNESS
from whole_runs import LIMIT_S, ROOT, WholeRun, commit, whole_run

# The uncounted first run of each, which fills the file cache and compiles modules.
_SHORT = ("--only", "DISC-0[12]")


def _of(name: str) -> Callable[[WholeRun], float]:
    return lambda run: run.usage.processor_s_of.get(name, 0.0)


def _seen(run: WholeRun) -> float:
    return sum(run.usage.processor_s_of.values())


# The rows of the table: a label, what is measured, and the number of decimals.
ROWS: tuple[tuple[str, Callable[[WholeRun], float], int], ...] = (
    ("wall, s", lambda run: run.usage.wall_s, 1),
    ("processor time, s", lambda run: run.usage.processor_s, 1),
    *((f"— of the {name}, s", _of(name), 1) for name in (HARNESS, "gateway", "merchant", "proxy")),
    ("— not seen by samples, s", lambda run: run.usage.processor_s - _seen(run), 1),
    ("checks", lambda run: run.checks, 0),
    ("exchanges", lambda run: run.exchanges, 0),
    ("wall per exchange, ms", lambda run: 1000 * run.usage.wall_s / max(run.exchanges, 1), 2),
    ("processor time per exchange, ms", lambda run: 1000 * run.usage.processor_s / max(run.exchanges, 1), 2),
    ("wall per check, ms", lambda run: 1000 * run.usage.wall_s / max(run.checks, 1), 1),
    ("processor time per check, ms", lambda run: 1000 * run.usage.processor_s / max(run.checks, 1), 1),
    ("peak of all resident sizes (RSS), MB", lambda run: run.usage.memory_mb, 0),
    ("peak, shared pages counted once (PSS), MB", lambda run: run.usage.pss_mb, 0),
)


def table(runs: Mapping[str, Sequence[WholeRun]]) -> str:
    """A row for each measure: the median and the range of each checkout; the ratio of the first two."""
    names = list(runs)
    two = len(names) == 2
    lines = [
        "| " + " | ".join(["median (least to most)", *names, *(["ratio"] if two else [])]) + " |",
        "|---|" + "--:|" * (len(names) + two),
    ]
    for label, measure, decimals in ROWS:
        values = [[measure(run) for run in runs[name]] for name in names]
        cells = [_cell(each, decimals) for each in values]
        if two:
            cells.append(_ratio(*(statistics.median(each) for each in values)))
        lines.append("| " + " | ".join([label, *cells]) + " |")
    return "\n".join(lines)


def _cell(values: Sequence[float], decimals: int) -> str:
    middle, least, most = (
        f"{value:,.{decimals}f}" for value in (statistics.median(values), min(values), max(values))
    )
    return middle if least == most else f"{middle} ({least} to {most})"


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}" if other else ""


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
    arguments = parser.parse_args()
    checkouts = {f"`{commit(ROOT)}`": ROOT}
    if arguments.beside is not None:
        checkouts[f"`{commit(arguments.beside)}` beside it"] = arguments.beside.resolve()
    words = ["--seed", str(arguments.seed), "--workers", str(arguments.workers)]
    words += [word for glob in arguments.only for word in ("--only", glob)]
    for checkout in checkouts.values():
        whole_run(checkout, *_SHORT, limit_s=arguments.limit)
    runs: dict[str, list[WholeRun]] = {name: [] for name in checkouts}
    for turn in range(arguments.rounds):
        # The first one of a round alternates, too.
        for name in list(checkouts)[:: -1 if turn % 2 else 1]:
            run = whole_run(checkouts[name], *words, limit_s=arguments.limit)
            runs[name].append(run)
            said = f"{run.usage.wall_s:.1f} s, {run.usage.processor_s:.1f} s of processor time"
            print(f"round {turn + 1}, {name}: {said}", file=sys.stderr, flush=True)
    print(table(runs))
    load = f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    print(f"\n{arguments.rounds} runs of each with {arguments.workers} workers; {load}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
