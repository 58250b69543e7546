"""Measures a whole run against the reference service over HTTP and MCP, and how much of it is waiting.

Some checks have to wait: for the service's timeouts while a party hangs, or until a token expires. These
checks are listed here and counted separately. Each worker has its own service, so that one works while
another waits. `--seldom S` measures a service instead that fetches a key set every S seconds at most, once
without and once with `{port}` in its target file.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from gateproof.conformance.checks import index
from gateproof.conformance.run.context.embedded import Embedded, embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.usual_workers import workers_of_a_run
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import ServiceTarget
from gateproof.conformance.wire.ports import free_ports
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
_WAITING_TURNS = frozenset(
    case
    for checks in index("service").values()
    for check in checks
    if check.turn.waits
    for case in check.ids()
)
SELDOM = Path(__file__).parents[1] / "tests" / "conformance" / "service" / "seldom_service.py"
TARGET = """
[target]
role = "service"
name = "seldom"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
kind = "http"
path = "/orders"
"""


def processor_s() -> float:
    """The processor time of this process and its ended children."""
    return sum(os.times()[:4])


def waits(check_id: str) -> bool:
    """True for the checks that wait by design."""
    return check_id in _WAITING_TURNS or any(
        fnmatchcase(check_id, pattern.replace("[", "[[]")) for pattern in WAITING
    )


def waited_s(result: RunResult) -> float:
    """The duration of the checks that wait by design."""
    return sum(check.duration_s for rule in result.rules for check in rule.checks if waits(check.id))


def measured(
    target: ServiceTarget | Embedded, seed: int, workers: int | None
) -> tuple[RunResult, float, float]:
    """A run with all rules, its wall time and its processor time; by default as many workers as a run has."""
    every = rules.load().for_role("service")
    workers = workers or workers_of_a_run(
        sum(map(len, index("service").values())), "service", own_targets=True
    )
    options = RunOptions(role="service", seed=seed, certify=True, workers=workers)
    with tempfile.TemporaryDirectory() as folder:
        begun, wall = processor_s(), time.monotonic()
        result = carry_out(target, every, options, lambda _: None, Path(folder))
        return result, time.monotonic() - wall, processor_s() - begun


def seldom_service(folder: Path, seconds: float, port: int | str) -> ServiceTarget:
    """A launched service that fetches a key set every so many seconds at most."""
    file = folder / f"{port}.toml"
    command = json.dumps([sys.executable, str(SELDOM), str(seconds), "--exit-with-stdin"])
    file.write_text(TARGET.format(port=port, command=command))
    target = load(file)
    assert isinstance(target, ServiceTarget)
    return target


def told(name: str, found: tuple[RunResult, float, float]) -> bool:
    """Prints a run; True if the service is conformant."""
    result, wall, busy = found
    waited, checks = waited_s(result), sum(len(rule.checks) for rule in result.rules)
    print(
        f"{name}: {checks} checks, {result.verdict.value}, {wall:.1f} s on the wall, {busy:.1f} s of"
        f" processor time; {waited:.1f} s waiting by design",
        flush=True,
    )
    return result.verdict is RunVerdict.CONFORMANT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the runs")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="copies of the service (default: 2; with --seldom: as a run)"
    )
    parser.add_argument(
        "--seldom", type=float, metavar="S", help="a service that fetches a key set every S seconds at most"
    )
    parser.add_argument(
        "--check", action="store_true", help=f"exit 1 when a run takes {BOUND_S:.0f} s or more"
    )
    arguments = parser.parse_args()
    good = True
    if arguments.seldom is None:
        for operation in OPERATIONS:
            found = measured(embedded_reference("service", operation), arguments.seed, arguments.workers or 2)
            good = told(operation, found) and found[1] < BOUND_S and good
    else:
        with tempfile.TemporaryDirectory() as folder:
            alone = seldom_service(Path(folder), arguments.seldom, free_ports(1)[0])
            good = told("one service", measured(alone, arguments.seed, 1))
            each = seldom_service(Path(folder), arguments.seldom, "{port}")
            good = (
                told("a service for each worker", measured(each, arguments.seed, arguments.workers)) and good
            )
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if arguments.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
