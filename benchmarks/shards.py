"""How long a proof in N shards would take, from recorded durations of its trials.

Each shard is a machine of its own. Its trials are given to its workers in the order of a proof, the longest
first, and each takes as long as it took when it was recorded. The shards are those of `gateproof prove
--shard K/N`.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stored import add_options, keep, kept, shown, table_of, with_circumstances

from gateproof.conformance.run.drive.options import Shard
from gateproof.conformance.run.proof.implementations import Subject, subjects, with_combinations
from gateproof.conformance.run.proof.proof import FILE
from gateproof.conformance.run.proof.scope import Effort, longest_first
from gateproof.conformance.run.proof.shares import share
from gateproof.conformance.run.usual_workers import WORKERS_A_PROCESSOR
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.suite.vocabulary import ROLES

NAME = "shards"
NUMBERS = (1, 2, 4, 8, 16, 32, 64)
PROCESSORS = 2


def recorded(role: str, folder: Path | None) -> tuple[list[Subject], dict[str, float]]:
    """The trials and their seconds, from a full proof in this folder or from the shipped map."""
    if folder is None:
        found = longest_first(subjects(role), role, Effort.QUICK, 1)
        return found, {name: caught.took_s for name, caught in proven(role).defects.items()}
    said = json.loads((folder / FILE).read_bytes())
    every = with_combinations(subjects(role), said["combinations"], said["seed"])
    found = longest_first(every, role, Effort(said["effort"]), said["seed"])
    took = {each["name"]: each["duration_s"] for each in said["trials"]}
    return [each for each in found if each.name in took], took


def wall_s(seconds: Sequence[float], workers: int) -> float:
    """When the last trial ends, if each free worker takes the next one."""
    free = [0.0] * workers
    for each in seconds:
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)


def row_of(
    role: str, found: Sequence[Subject], took: Mapping[str, float], of: int, workers: int
) -> dict[str, float]:
    """The seconds of a proof in so many shards."""
    usual = sum(took.values()) / len(took)
    parts = [share(found, Shard(k=number, n=of), proven(role).defects) for number in range(1, of + 1)]
    seconds = [[took.get(each.name, usual) for each in part] for part in parts]
    sums = [sum(each) for each in seconds]
    return {
        "shards": of,
        "mean": sum(sums) / of,
        "slowest": max(sums),
        "longest": max(max(each, default=0.0) for each in seconds),
        "wall": max(wall_s(each, workers) for each in seconds),
    }


def computed(role: str, folder: Path | None, workers: int) -> dict[str, Any]:
    """A proof of a role in each number of shards."""
    found, took = recorded(role, folder)
    rows = [row_of(role, found, took, of, workers) for of in NUMBERS]
    return {"trials": len(found), "workers": workers, "rows": rows}


def drawn(results: Mapping[str, Any]) -> str:
    """A table for each role, as Markdown."""
    return "\n\n".join(
        "\n".join(
            [
                f"{role.capitalize()}, {each['trials']} trials, {each['workers']} workers on each machine:",
                "",
                "| shards | mean, s | slowest, s | ratio | longest, s | wall, s |",
                "|--:|--:|--:|--:|--:|--:|",
                *map(_line, each["rows"]),
            ]
        )
        for role, each in results["roles"].items()
    )


def _line(row: Mapping[str, float]) -> str:
    ratio = row["slowest"] / row["mean"]
    return (
        f"| {row['shards']} | {row['mean']:,.0f} | {row['slowest']:,.0f} | {ratio:.2f} | {row['longest']:.0f}"
        f" | {row['wall']:.0f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("role", nargs="*", choices=[*ROLES, []], help="which proofs (default: all)")
    parser.add_argument(
        "--from", dest="folder", type=Path, help="the folder of a finished proof of this role"
    )
    parser.add_argument(
        "--workers", type=int, help="parallel trials of each machine (default: of two processors)"
    )
    add_options(parser, NAME)
    arguments = parser.parse_args()
    if arguments.table:
        print(table_of(NAME, drawn))
        return 0
    if arguments.folder is not None and len(arguments.role) != 1:
        parser.error("--from goes with one role")
    found = {
        role: computed(role, arguments.folder, arguments.workers or PROCESSORS * WORKERS_A_PROCESSOR[role])
        for role in arguments.role or ROLES
    }
    results = with_circumstances({"roles": found})
    if arguments.keep:
        # A proof in a folder is of one role; the stored results of the others stay.
        every = {**(kept(NAME) or {}).get("roles", {}), **found}
        keep(NAME, {**results, "roles": {role: every[role] for role in ROLES if role in every}})
    print(shown(results, drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
