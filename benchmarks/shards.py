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

from gateproof.conformance.run.drive.options import Shard
from gateproof.conformance.run.proof.implementations import Subject, subjects
from gateproof.conformance.run.proof.proof import FILE
from gateproof.conformance.run.proof.scope import Effort, longest_first
from gateproof.conformance.run.proof.shares import share
from gateproof.conformance.run.usual_workers import WORKERS_A_PROCESSOR
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.suite.vocabulary import ROLES

NUMBERS = (1, 2, 4, 8, 16, 32, 64)
PROCESSORS = 2


def recorded(role: str, folder: Path | None) -> dict[str, float]:
    """The seconds of each trial: of a proof in this folder, or of the shipped map, which has only defects."""
    if folder is not None:
        return {
            each["name"]: each["duration_s"] for each in json.loads((folder / FILE).read_bytes())["trials"]
        }
    return {name: caught.took_s for name, caught in proven(role).defects.items()}


def wall_s(seconds: Sequence[float], workers: int) -> float:
    """When the last trial ends, if each free worker takes the next one."""
    free = [0.0] * workers
    for each in seconds:
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)


def line_for(role: str, found: Sequence[Subject], took: Mapping[str, float], of: int, workers: int) -> str:
    """A line of the table for a proof in so many shards."""
    usual = sum(took.values()) / len(took)
    parts = [share(found, Shard(k=number, n=of), proven(role).defects) for number in range(1, of + 1)]
    seconds = [[took.get(each.name, usual) for each in part] for part in parts]
    sums = [sum(each) for each in seconds]
    longest = max(max(each, default=0.0) for each in seconds)
    walls = [wall_s(each, workers) for each in seconds]
    mean = sum(sums) / of
    return f"{of:6} {mean:10.0f} {max(sums):10.0f} {max(sums) / mean:8.2f} {longest:10.0f} {max(walls):10.0f}"


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
    arguments = parser.parse_args()
    if arguments.folder is not None and len(arguments.role) != 1:
        parser.error("--from goes with one role")
    for role in arguments.role or ROLES:
        took, workers = (
            recorded(role, arguments.folder),
            arguments.workers or PROCESSORS * WORKERS_A_PROCESSOR[role],
        )
        found = longest_first(subjects(role), role, Effort.QUICK, 1)
        print(f"{role}: {len(found)} trials, {workers} workers; seconds of trials, then of the clock")
        print("shards       mean    slowest    ratio    longest       wall")
        for of in NUMBERS:
            print(line_for(role, found, took, of, workers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
