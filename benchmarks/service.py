"""Measures a whole run against the reference service over HTTP and MCP, and how much of it is waiting.

Some checks have to wait: for the service's timeouts while a party hangs, or until a token expires. These
checks are listed here and counted separately. Each worker has its own service, so that one works while
another waits.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.reports.verdicts import RunResult, RunVerdict

BOUND_S = 60.0
Operation = Literal["http", "mcp"]
OPERATIONS: tuple[Operation, ...] = ("http", "mcp")
# Checks that wait for the service's timeouts, or for the expiry of a token.
WAITING = (
    "BACK-06/*hang]",
    "BACK-11/*",
    "CHAL-07/token_that_was_accepted_before_*",
)


def processor_s() -> float:
    """The processor time of this process and its ended children."""
    return sum(os.times()[:4])


def waits(check_id: str) -> bool:
    """True for the checks that wait by design."""
    return any(fnmatchcase(check_id, pattern.replace("[", "[[]")) for pattern in WAITING)


def waited_s(result: RunResult) -> float:
    """The duration of the checks that wait by design."""
    return sum(check.duration_s for rule in result.rules for check in rule.checks if waits(check.id))


def measured(operation: Operation, seed: int, workers: int) -> tuple[RunResult, float, float]:
    """A run with all rules, its wall time and its processor time."""
    options = RunOptions(role="service", seed=seed, certify=True, workers=workers)
    with tempfile.TemporaryDirectory() as folder:
        begun, wall = processor_s(), time.monotonic()
        every = rules.load().for_role("service")
        result = carry_out(
            embedded_reference("service", operation), every, options, lambda _: None, Path(folder)
        )
        return result, time.monotonic() - wall, processor_s() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the runs")
    parser.add_argument(
        "--workers", type=int, default=2, metavar="N", help="copies of the service (default: 2)"
    )
    parser.add_argument(
        "--check", action="store_true", help=f"exit 1 when a run takes {BOUND_S:.0f} s or more"
    )
    arguments = parser.parse_args()
    good = True
    for operation in OPERATIONS:
        result, wall, busy = measured(operation, arguments.seed, arguments.workers)
        waited, checks = waited_s(result), sum(len(rule.checks) for rule in result.rules)
        good = good and wall < BOUND_S and result.verdict is RunVerdict.CONFORMANT
        print(
            f"{operation}: {checks} checks, {result.verdict.value}, {wall:.1f} s on the wall (bound"
            f" {BOUND_S:.0f} s), {busy:.1f} s of processor time; {waited:.1f} s ({waited / wall:.0%}) waiting"
            " by design",
            flush=True,
        )
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if arguments.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
