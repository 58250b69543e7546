"""Compares gateproof with `@modelcontextprotocol/conformance`, against the same MCP service.

Both test the reference service over MCP, in turns. gateproof starts a service of its own in each run. The
other program connects to one that keeps running, through a proxy that adds a valid access token and counts
requests, because it does not sign in to servers.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from processes import measured
from replay import RequestRecorder
from service import waits
from stored import add_options, keep, shown, table_of, with_circumstances
from token_proxy import TokenProxy, token_proxy
from whole_runs import ROOT, whole_run

from gateproof.conformance.run.context.embedded import embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.prepare.service import prepare_service
from gateproof.conformance.suite import rules
from gateproof.conformance.wire.connections import Connections

NAME = "mcp_conformance"
PACKAGE = Path(__file__).parent / "npm"
PROGRAM = PACKAGE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
USER = "alice"
LIMIT_S = 600.0
# The words of a `gateproof run` of this benchmark, except its seed.
RUN = ("service", "--operation", "mcp", "--workers", "1")
_SUMMARY = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One run of one of the two; `tester_s` is the processor time without the service."""

    wall_s: float
    tester_s: float
    checks: int
    exchanges: int
    waiting_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario of the other program, the assertions that it made, and its exchanges if it ran alone."""

    name: str
    passed: int
    failed: int
    exchanges: int | None = None


# The rows of the table: a label, what is measured, and the number of decimals.
ROWS: tuple[tuple[str, Callable[[Measured], float], int], ...] = (
    ("wall, s", lambda run: run.wall_s, 1),
    ("— checks that wait by design, s", lambda run: run.waiting_s, 1),
    ("processor time without the service, s", lambda run: run.tester_s, 1),
    ("checks (scenarios)", lambda run: run.checks, 0),
    ("exchanges", lambda run: run.exchanges, 0),
    ("exchanges per check", lambda run: run.exchanges / run.checks, 1),
    ("checks per second", lambda run: run.checks / run.wall_s, 1),
    ("exchanges per second", lambda run: run.exchanges / run.wall_s, 1),
    ("processor time per exchange, ms", lambda run: 1000 * run.tester_s / max(run.exchanges, 1), 2),
)


def table(ours: Sequence[Measured], others: Sequence[Measured]) -> str:
    """The medians of both as Markdown."""
    lines = ["| median | gateproof | conformance | ratio |", "|---|--:|--:|--:|"]
    for label, measure, decimals in ROWS:
        one, other = (statistics.median(map(measure, runs)) for runs in (ours, others))
        ratio = f"{one / other:.2f}" if other else ""
        lines.append(f"| {label} | {one:,.{decimals}f} | {other:,.{decimals}f} | {ratio} |")
    return "\n".join(lines)


def scenarios(printed: str) -> list[Scenario]:
    """The scenarios in the summary that the other program prints."""
    return [
        Scenario(name=name, passed=int(passed), failed=int(failed))
        for name, passed, failed in _SUMMARY.findall(printed)
    ]


def command(*words: str) -> list[str]:
    """The command of the other program."""
    return ["node", "--import", str(PACKAGE / "old_node.mjs"), str(PROGRAM), "server", *words]


def conformance(proxy: TokenProxy, *words: str) -> tuple[Measured, list[Scenario]]:
    """A run of the other program; without arguments, with all of its scenarios that are not pending."""
    before = proxy.requests
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder) / "printed"
        with printed.open("w") as output:
            given = command("--url", f"{proxy.url}/mcp", *words)
            usage = measured(given, Path(folder), LIMIT_S, output=output)
        found = scenarios(printed.read_text(encoding="utf-8"))
    run = Measured(
        wall_s=usage.wall_s,
        tester_s=usage.processor_s,
        checks=len(found),
        exchanges=proxy.requests - before,
    )
    return run, found


def gateproof(seed: int, only: Sequence[str], exchanges: int) -> Measured:
    """A run of our command; its exchanges were counted before."""
    given = [word for glob in only for word in ("--only", glob)]
    run = whole_run(ROOT, *RUN, "--seed", str(seed), *given, limit_s=LIMIT_S)
    return Measured(
        wall_s=run.usage.wall_s,
        tester_s=run.usage.processor_s - run.usage.processor_s_of.get("service", 0.0),
        checks=run.checks,
        exchanges=exchanges,
        waiting_s=sum(seconds for check, seconds in run.seconds_of.items() if waits(check)),
    )


def exchanges_of_a_run(seed: int, only: Sequence[str]) -> int:
    """How many requests a run sends to the service; a run in this process, because the record has fewer.

    The record holds those of checks, but not those with which the run prepares for them.
    """
    tape = RequestRecorder()
    selected = rules.select(rules.load().for_role("service"), only)
    options = RunOptions(role="service", seed=seed)
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(Connections, "ask", tape.recorder()):
        carry_out(embedded_reference("service", "mcp"), selected, options, lambda _: None, Path(folder))
    return len(tape.requests)


@contextmanager
def served(seed: int) -> Iterator[TokenProxy]:
    """The reference service with its world, behind a proxy with tokens of a user."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        given = embedded_reference("service", "mcp")
        context = prepare_service(given, Path(folder), seed, stack).context
        url, world = context.target.service_url, context.world
        with token_proxy(url, str(world.ca_file), lambda: world.gateway.access_token(USER)) as proxy:
            yield proxy


def each_scenario(proxy: TokenProxy, found: Sequence[Scenario]) -> list[Scenario]:
    """Runs each scenario alone, to count its exchanges."""
    return [
        replace(each, exchanges=conformance(proxy, "--scenario", each.name)[0].exchanges) for each in found
    ]


def listed(found: Sequence[Scenario]) -> str:
    """The scenarios with their exchanges as Markdown."""
    lines = ["| scenario | exchanges | assertions passed | failed |", "|---|--:|--:|--:|"]
    lines += [f"| `{each.name}` | {each.exchanges} | {each.passed} | {each.failed} |" for each in found]
    return "\n".join(lines)


def measured_in_turns(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs both in each round, and returns what is stored."""
    ours: list[Measured] = []
    others: list[Measured] = []
    with served(arguments.seed) as proxy:
        # One run of each that is not counted, which fills the file cache.
        exchanges = exchanges_of_a_run(arguments.seed, arguments.only)
        _, found = conformance(proxy)
        if not found:
            sys.exit("the other program printed no summary of its scenarios")
        for _ in range(arguments.rounds):
            ours.append(gateproof(arguments.seed, arguments.only, exchanges))
            others.append(conformance(proxy)[0])
        if arguments.each:
            found = each_scenario(proxy, found)
    return {
        "rounds": arguments.rounds,
        "ours": [asdict(run) for run in ours],
        "others": [asdict(run) for run in others],
        "scenarios": [asdict(scenario) for scenario in found],
    }


def drawn(results: Mapping[str, Any]) -> str:
    """The stored results as Markdown."""
    ours, others = ([Measured(**run) for run in results[name]] for name in ("ours", "others"))
    found = [Scenario(**scenario) for scenario in results["scenarios"]]
    passed = sum(not scenario.failed for scenario in found)
    text = (
        f"{table(ours, others)}\n\n{results['rounds']} runs of each. The service passes {passed} of"
        f" {len(found)} scenarios."
    )
    counted = all(scenario.exchanges is not None for scenario in found)
    return f"{text}\n\n{listed(found)}" if counted else text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of gateproof's runs (default: 1)")
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="gateproof with these rules"
    )
    parser.add_argument("--each", action="store_true", help="also run each scenario alone, and list them")
    add_options(parser, NAME)
    arguments = parser.parse_args()
    if arguments.table:
        print(table_of(NAME, drawn))
        return 0
    install = ["sh", str(ROOT / "requirements" / "npm.sh"), str(PACKAGE), str(PACKAGE)]
    subprocess.run(install, check=True, timeout=LIMIT_S)
    if not PROGRAM.exists():
        print("not measured: npm is missing, so the other program is not installed", file=sys.stderr)
        return 2
    results = with_circumstances(measured_in_turns(arguments))
    if arguments.keep:
        keep(NAME, results)
    print(shown(results, drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
