"""Measures the processor time of sign-ins at the embedded gateway, for each of the processes.

A sign-in is everything from the agent's authorization request to its tokens: the pages of the gateway and of
the fake merchant, the merchant's token requests, and the exchange of the code. The first sign-ins open the
connections and load modules; they are not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from stored import add_options, keep, shown, table_of, with_circumstances

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.run.prepare.gateway import prepare
from gateproof.conformance.suite.parties import Resource

NAME = "sign_in"
_WARM_UP = 20
# The names of modules in the commands of the processes.
_PARTIES = {"gateway": "gateproof.reference.gateway", "merchant": "gateproof.fakes.merchant"}


def processes(parent: int) -> dict[str, int]:
    """The process IDs of the harness, its gateway and its merchant."""
    found = {"harness": parent}
    for name, module in _PARTIES.items():
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_text().split("\0")
                started_by = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if started_by == parent and module in command:
                found[name] = int(folder.name)
    return found


def busy_s(pids: Mapping[str, int]) -> dict[str, float]:
    """The processor time of each process until now, with all of its threads."""
    return {
        name: sum(int(file.read_text().split()[0]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
        / 1e9
        for name, pid in pids.items()
    }


def sign_in(bench: GatewayBench, resource: Resource) -> None:
    """One sign-in of a new agent's user, as a check makes it."""
    bench.anew()
    bench.world.grant(resource=resource)


def measured(sign_ins: int, rounds: int) -> dict[str, Any]:
    """The seconds of each process for a sign-in, in its best round."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="gateproof-sign-in-") as folder, ExitStack() as stack:
        context = prepare(Embedded(), Path(folder), 1, stack).context
        bench = stack.enter_context(closing(GatewayBench(context)))
        bench.begin("sign-in")
        resource = bench.world.projects.home().resource
        for _ in range(_WARM_UP):
            sign_in(bench, resource)
        pids = processes(os.getpid())
        for _ in range(rounds):
            before = busy_s(pids)
            for _ in range(sign_ins):
                sign_in(bench, resource)
            for name, after in busy_s(pids).items():
                each = (after - before[name]) / sign_ins
                best[name] = min(each, best.get(name, each))
    return {"sign_ins": sign_ins, "rounds": rounds, "seconds": best}


def drawn(results: Mapping[str, Any]) -> str:
    """The stored results as Markdown."""
    lines = ["| process | processor time of a sign-in, ms |", "|---|--:|"]
    lines += [f"| {name} | {seconds * 1e3:.2f} |" for name, seconds in results["seconds"].items()]
    return "\n".join(lines) + f"\n\nThe best of {results['rounds']} rounds of {results['sign_ins']} sign-ins."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sign-ins", type=int, default=200, metavar="N", help="sign-ins of one round")
    parser.add_argument("--rounds", type=int, default=5)
    add_options(parser, NAME)
    given = parser.parse_args()
    if given.table:
        print(table_of(NAME, drawn))
        return 0
    results = with_circumstances(measured(given.sign_ins, given.rounds))
    if given.keep:
        keep(NAME, results)
    print(shown(results, drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
