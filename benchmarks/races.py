"""Measures how often one round of a race catches a concurrency defect, and how many rounds are needed.

Each shipped concurrency defect is tested with the races of its right rule again and again, one valid round at
a time. The check that catches it most often is the one for this defect. It needs so many rounds that a miss
is rarer than one in ten thousand. The calculation uses the lower bound of the rate with 95 % confidence, not
the measured rate.

Slow runs, which mostly wait, are made in parallel.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from busy import busy

from gateproof.conformance import checks
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.proof.implementations import Subject, subjects
from gateproof.conformance.run.proof.runs import own_place
from gateproof.conformance.run.proof.scope import rules_of
from gateproof.conformance.suite import races
from gateproof.conformance.suite.proven import proven
from gateproof.reference.defects.gateway.races import DEFECTS as RACES_OF_STEPS
from gateproof.reference.defects.gateway.races_vault import DEFECTS as RACES_OF_THE_VAULT
from gateproof.reports.verdicts import Reason, Verdict

RATES = Path(__file__).with_name("race_rates.json")
# The maximum probability of a miss, and the confidence of the rate.
MISS, CONFIDENCE = 1e-4, 0.95
ROLES = ("gateway", "service")
JUDGED = frozenset({Verdict.PASSED, Verdict.FAILED})
RACES = frozenset(defect.name for defect in (*RACES_OF_STEPS, *RACES_OF_THE_VAULT))
# A run that takes so long waits: there are more tries, and so many at once.
LONG_S, AT_ONCE = 1.5, 20
LINE = "{seen:3} of {tries:3}  {rounds:3} rounds  {run_s:5.2f} s  {defect}  {check}"


def lower_bound(seen: int, tries: int) -> float:
    """The lower bound of the rate (Clopper and Pearson)."""
    low, high = 0.0, seen / tries
    for _ in range(60):
        middle = (low + high) / 2
        at_least = sum(
            math.comb(tries, k) * middle**k * (1 - middle) ** (tries - k) for k in range(seen, tries + 1)
        )
        low, high = (middle, high) if at_least < 1 - CONFIDENCE else (low, middle)
    return low


def rounds_for(seen: int, tries: int) -> int:
    """The number of rounds that makes a miss rare enough."""
    rate = lower_bound(seen, tries)
    return math.ceil(math.log(MISS) / math.log(1 - rate)) if rate > 0 else sys.maxsize


def losers(role: str) -> Iterator[tuple[Subject, list[str]]]:
    """Defects that only races of their right rule catch, each with the cases of these races."""
    shipped = proven(role).defects
    raced = {f"{check.rule}/{check.name}": check for check in checks.races(role)}
    for subject in subjects(role):
        known = shipped[subject.name].checks if subject.name in shipped else ()
        functions = {check_id.partition("[")[0] for check_id in known}
        if subject.kind == "defect" and (subject.name in RACES or (functions and functions <= raced.keys())):
            own = [check for check in raced.values() if check.rule == subject.rules[0]]
            yield subject, [case for check in own for case in check.ids()]


def one_round(role: str, subject: Subject, case: str, seed: int) -> tuple[Verdict, float]:
    """The verdict of one valid round, and the duration of the run."""
    # One valid round in each run; set here because each process of a pool has its own copy.
    races.USUAL_ROUNDS = sys.maxsize
    chosen, place = frozenset({case}), own_place(seed=1)
    options = RunOptions(role=role, seed=seed, chosen=chosen, exchanges=False)
    target = Embedded(
        name=subject.name, program=subject.program(role, place.runner), operation=subject.operation
    )
    stage = place.stage() if role == "gateway" else None
    begun = time.monotonic()
    with TemporaryDirectory(prefix="gateproof-races-") as folder:
        result = carry_out(target, rules_of(chosen, role), options, lambda _: None, Path(folder), stage)
    took_s = time.monotonic() - begun
    (found,) = [check for rule in result.rules for check in rule.checks if check.id == case]
    if found.verdict not in JUDGED:
        why = "no overlap" if found.reason is Reason.NO_OVERLAP else found.message
        print(f"  seed {seed}: {case} {found.verdict.value}: {why}", flush=True)
    return found.verdict, took_s


def measured(
    role: str, subject: Subject, case: str, tries: int, long_tries: int, pool: ProcessPoolExecutor
) -> dict[str, Any] | None:
    """How often one round of a case caught the defect; None for a case that does not catch it."""
    ask = partial(one_round, role, subject, case)
    found = [ask(seed) for seed in range(3)]
    if all(verdict is not Verdict.FAILED for verdict, _ in found):
        return None
    if statistics.median(took_s for _, took_s in found) < LONG_S:
        found += [ask(seed) for seed in range(3, tries)]
    else:
        found += pool.map(ask, range(3, long_tries))
    counted = [verdict for verdict, _ in found if verdict in JUDGED]
    seen = counted.count(Verdict.FAILED)
    return {
        "role": role,
        "defect": subject.name,
        "check": case,
        "seen": seen,
        "tries": len(counted),
        "rounds": rounds_for(seen, len(counted)),
        "run_s": round(statistics.median(took_s for _, took_s in found), 2),
    }


def best_of(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each defect the row of the case that needs the fewest rounds, or the fastest of these."""
    ordered = sorted(rows, key=lambda row: (row["rounds"], row["run_s"]), reverse=True)
    return {row["defect"]: row for row in ordered}


def pooled(measured: Mapping[str, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One row for each defect and case, with the tries of all measurements."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in (row for rows in measured.values() for row in rows):
        one = found.setdefault((row["role"], row["defect"], row["check"]), {**row, "seen": 0, "tries": 0})
        one["seen"] += row["seen"]
        one["tries"] += row["tries"]
    for one in found.values():
        one["rounds"] = rounds_for(one["seen"], one["tries"])
    return list(found.values())


def table() -> str:
    """The stored results as a table: for each defect its best case and the rounds that it needs."""
    measured = json.loads(RATES.read_text(encoding="utf-8"))
    stated = {case: check.rounds for role in ROLES for check in checks.races(role) for case in check.ids()}
    lines = ["| loses the race | caught by one round of | quiet | busy | rounds needed | rounds run |"]
    lines.append("|---|---|---|---|---|---|")
    for row in sorted(best_of(pooled(measured)).values(), key=lambda row: (row["role"], row["check"])):
        counts = [
            next((f"{each['seen']} of {each['tries']}" for each in measured[name] if _same(each, row)), "")
            for name in ("quiet", "busy")
        ]
        cells = (f"`{row['defect']}`", f"`{row['check']}`", *counts, row["rounds"], stated[row["check"]])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (one["defect"], one["check"]) == (other["defect"], other["check"])


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", action="append", default=[], help="defects whose names match (repeatable)")
    parser.add_argument("--role", choices=ROLES, action="append", help="default: both")
    parser.add_argument("--tries", type=int, default=40, help="rounds for each defect and check")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="with so many busy processes")
    parser.add_argument("--keep", metavar="NAME", help=f"store the results in {RATES.name} under this name")
    parser.add_argument(
        "--best-of", metavar="NAME", help="for each defect only the best case of these stored results"
    )
    parser.add_argument("--long-tries", type=int, default=60, help="the same for slow runs")
    parser.add_argument("--table", action="store_true", help="print the stored results, and measure nothing")
    arguments = parser.parse_args(argv)
    if arguments.table:
        print(table())
        return 0
    kept = json.loads(RATES.read_text(encoding="utf-8")) if RATES.exists() else {}
    best = {name: [row["check"]] for name, row in best_of(kept.get(arguments.best_of, [])).items()}
    rows: list[dict[str, Any]] = []
    fresh = multiprocessing.get_context("spawn")
    with busy(arguments.busy), ProcessPoolExecutor(AT_ONCE, mp_context=fresh) as pool:
        for role in arguments.role or ROLES:
            for subject, cases in losers(role):
                if arguments.only and not any(fnmatchcase(subject.name, glob) for glob in arguments.only):
                    continue
                for case in best.get(subject.name, cases):
                    row = measured(role, subject, case, arguments.tries, arguments.long_tries, pool)
                    if row is None:
                        continue
                    rows.append(row)
                    print(LINE.format(**row), flush=True)
    if arguments.keep:
        anew = {row["defect"] for row in rows}
        before = [row for row in kept.get(arguments.keep, []) if row["defect"] not in anew]
        RATES.write_text(
            json.dumps({**kept, arguments.keep: before + rows}, indent=1) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
