"""Measures how a run of the embedded gateway grows: with checks, with generated examples, with workers.

Each round runs every setting once, so that a busy machine affects all of them. The results are written to
`growth.json` after each round, and drawn in `growth.svg`. `--draw` draws again without measuring.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from growth_chart import drawn as picture
from growth_lines import Point, table
from stored import file_of, keep, kept, table_of, with_circumstances
from whole_runs import LIMIT_S, ROOT, whole_run

from gateproof.conformance.checks import index
from gateproof.conformance.suite import rules

NAME = "growth"
# All checks, or the rules whose checks are nearest to this share of them.
SHARES = (0.25, 0.5, 1.0)
EXAMPLES = (5, 20, 80)
WORKERS = (1, 2, 4, 8)
USUAL_WORKERS = 2


def checks_of() -> dict[str, int]:
    """The number of checks of each rule of gateways."""
    checks = index("gateway")
    return {
        rule.id: sum(len(check.ids()) for check in checks.get(rule.id, ()))
        for rule in rules.load().for_role("gateway")
    }


def part(checks: Mapping[str, int], share: float, seed: int) -> list[str]:
    """Rules in a random order, until their checks reach this share of all."""
    if share >= 1:
        return []
    order = random.Random(seed).sample(sorted(checks), len(checks))  # noqa: S311
    chosen, number = list[str](), 0
    for rule in order:
        if number >= share * sum(checks.values()):
            break
        chosen.append(rule)
        number += checks[rule]
    return chosen


def generating() -> dict[str, int]:
    """The rules with generated input, and the number of their checks that use it."""
    found = {
        rule: sum(len(check.ids()) for check in checks if "examples" in check.needs)
        for rule, checks in index("gateway").items()
    }
    return {rule: number for rule, number in found.items() if number}


def only(chosen: Sequence[str]) -> list[str]:
    return [word for rule in chosen for word in ("--only", rule)]


def settings(seed: int) -> list[tuple[str, str, float | None, list[str]]]:
    """Panel, setting, the place on its axis if known before, and the arguments of each run of one round.

    The run with all checks and the usual number of workers is in two panels and is made once.
    """
    checks, cases = checks_of(), sum(generating().values())
    usual = ["--workers", str(USUAL_WORKERS)]
    found: list[tuple[str, str, float | None, list[str]]] = [
        ("checks", f"{share:.0%}", None, [*usual, *only(part(checks, share, seed))]) for share in SHARES
    ]
    for number in EXAMPLES:
        words = [*usual, "--examples", str(number), *only(list(generating()))]
        found.append(("examples", f"--examples {number}", float(number * cases), words))
    further = [number for number in WORKERS if number != USUAL_WORKERS]
    found += [("workers", str(number), float(number), ["--workers", str(number)]) for number in further]
    return found


def measured_round(seed: int, limit_s: float) -> list[Point]:
    points: list[Point] = []
    for panel, setting, place, words in settings(seed):
        run = whole_run(ROOT, "--seed", str(seed), *words, limit_s=limit_s)
        x = float(run.checks) if place is None else place
        took = {"wall_s": run.usage.wall_s, "processor_s": run.usage.processor_s}
        points.append(Point(panel=panel, setting=setting, x=x, **took))
        if panel == "checks" and setting == "100%":
            points.append(Point(panel="workers", setting=str(USUAL_WORKERS), x=float(USUAL_WORKERS), **took))
        print(
            f"{panel}, {setting}: {run.usage.wall_s:.1f} s, {run.usage.processor_s:.1f} s of processor time",
            file=sys.stderr,
            flush=True,
        )
    return points


def drawn(results: Mapping[str, Any]) -> str:
    """The picture and the table as Markdown."""
    points = [Point(**point) for point in results["points"]]
    return f"![How a run grows]({picture_file().name})\n\n{table(points)}\n\n{results['rounds']} rounds."


def picture_file() -> Path:
    return file_of(NAME).with_suffix(".svg")


def drawn_picture(results: Mapping[str, Any]) -> str:
    return picture([Point(**point) for point in results["points"]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of all settings (default: 3)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first round; others follow")
    parser.add_argument(
        "--limit", type=float, default=LIMIT_S, metavar="S", help=f"of one run (default: {LIMIT_S:.0f})"
    )
    only_shown = parser.add_mutually_exclusive_group()
    only_shown.add_argument("--draw", action="store_true", help="draw the stored results, and make no run")
    only_shown.add_argument("--table", action="store_true", help="print the stored results, and make no run")
    arguments = parser.parse_args()
    points: list[Point] = []
    for turn in range(0 if arguments.draw or arguments.table else arguments.rounds):
        points += measured_round(arguments.seed + turn, arguments.limit)
        rounds = {"rounds": turn + 1, "points": [point.as_dict() for point in points]}
        keep(NAME, with_circumstances(rounds))
    found = kept(NAME)
    if found is not None and not arguments.table:
        picture_file().write_text(drawn_picture(found), encoding="utf-8")
    print(table_of(NAME, drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
