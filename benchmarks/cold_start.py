"""Measures how long the command line takes to start, compared with an interpreter that does nothing.

Every round runs each command once, so that a busy machine slows all of them. With `--check` the exit code is
1 if a command exceeds the bound of 3 x `python -c pass` + 150 ms.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

BARE = "python -c pass"
FACTOR, ALLOWANCE_MS = 3, 150
BOUNDED = {"gateproof --help", "gateproof list"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """The runs of one command, in milliseconds."""

    name: str
    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)


def commands() -> dict[str, list[str]]:
    python = sys.executable
    gateproof = str(Path(python).with_name("gateproof"))
    return {
        BARE: [python, "-c", "pass"],
        "gateproof --version": [gateproof, "--version"],
        "gateproof --help": [gateproof, "--help"],
        "gateproof list": [gateproof, "list"],
    }


def one_run(command: list[str]) -> float:
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, timeout=60)
    took = (time.perf_counter() - begin) * 1000
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(
            f"{Path(command[0]).name} {' '.join(command[1:])} ended with {done.returncode}: {last}"
        )
    return took


def measure(rounds: int) -> list[Timing]:
    """The timings; the first round fills the caches and is not counted."""
    asked = commands()
    taken: dict[str, list[float]] = {name: [] for name in asked}
    for round_ in range(rounds + 1):
        for name, command in asked.items():
            took = one_run(command)
            if round_:
                taken[name].append(took)
    return [Timing(name=name, runs=tuple(runs)) for name, runs in taken.items()]


def bound(timings: list[Timing]) -> float:
    bare = next(timing for timing in timings if timing.name == BARE)
    return FACTOR * bare.median + ALLOWANCE_MS


def table(timings: list[Timing]) -> str:
    bare = next(timing for timing in timings if timing.name == BARE)
    lines = [f"{'':22}{'median':>9}{'min':>9}{'max':>9}{'ratio':>8}"]
    lines += [
        f"{timing.name:22}{timing.median:7.1f}ms{min(timing.runs):7.1f}ms{max(timing.runs):7.1f}ms"
        f"{timing.median / bare.median:7.1f}x"
        for timing in timings
    ]
    lines.append(f"bound for {' and '.join(sorted(BOUNDED))}: {bound(timings):.1f}ms")
    return "\n".join(lines)


def too_slow(timings: list[Timing]) -> list[str]:
    return [each.name for each in timings if each.name in BOUNDED and each.median >= bound(timings)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measures how long the command line takes to start.")
    parser.add_argument("--rounds", type=int, default=15, help="how often each command runs (default: 15)")
    parser.add_argument("--check", action="store_true", help="end with 1 when a command is over the bound")
    options = parser.parse_args(arguments)
    try:
        timings = measure(max(1, options.rounds))
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"cold_start: {error}", file=sys.stderr)
        return 1
    print(table(timings))
    slow = too_slow(timings)
    if slow:
        print(f"over the bound: {', '.join(slow)}")
    return 1 if slow and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
