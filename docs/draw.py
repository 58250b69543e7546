"""Generates the parts of pages that come from data or mirror the code, each between two markers.

`make docs` makes a run and writes the pages. `--check` compares instead, and exits with 1 on a difference.
`--run FILE` takes the output of a run from a file; `--no-run` leaves that part as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import tables

from gateproof.conformance.suite.proven import proven

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README, BENCHMARKS = ROOT / "README.md", ROOT / "benchmarks" / "README.md"
PROGRESS = re.compile(r"  \d+/\d+ checks, ")
NOUNS = {"gateway": "gateways", "service": "services", "agent": "agents"}


def run_block(printed: str) -> str:
    """The output of a run, without progress lines and without the output of an installation before it."""
    _, begins, rest = printed.partition("gateproof tests ")
    lines = [line for line in (begins + rest).splitlines() if not PROGRESS.match(line)]
    if not lines:
        raise ValueError("this is not the output of a run: no line begins with 'gateproof tests'")
    return "\n".join(["```text", *lines, "```"])


def proofs_block() -> str:
    """The figures of the full proof of each role."""
    rows = [
        "| | defects caught by their own rule | variants that passed | checks seen failing |",
        "|---|---|---|---|",
    ]
    row = (
        "| {noun} | {caught} of {defects} | {left_alone} of {variants} | {checks_seen_failing} of {checks} |"
    )
    rows += [row.format(noun=noun, **proven(role).figures) for role, noun in NOUNS.items()]
    return "\n".join(rows)


@cache
def measured() -> dict[str, str]:
    """The tables of stored measurements by name."""
    tables_of_benchmarks: dict[str, str] = json.loads(output_of(sys.executable, "benchmarks/drawn_tables.py"))
    return tables_of_benchmarks


def measured_block(name: str) -> str:
    return measured()[name].rstrip()


# The measurements in benchmarks/README.md.
MEASURED = ("growth", "mcp_conformance", "races", "shards", "sign_in", "steady", "versions")
# The parts that need no run: the name in the marker, the page, and what makes the part.
PARTS: dict[str, tuple[Path, Callable[[], str]]] = {
    "proofs": (README, proofs_block),
    **{name: (BENCHMARKS, partial(measured_block, name)) for name in MEASURED},
    "faults": (DOCS / "faults.md", tables.faults),
    "outputs": (DOCS / "outputs.md", tables.outputs),
    "options": (DOCS / "command-line.md", tables.options),
    "rules": (DOCS / "rules.md", tables.the_rules),
    "coverage": (DOCS / "coverage.md", tables.coverage),
    **{
        f"variants of {each}": (DOCS / "variants.md", partial(tables.variants, role))
        for role, each in NOUNS.items()
    },
}


def with_block(text: str, name: str, block: str) -> str:
    """The page with the text between two markers replaced."""
    pattern = re.compile(rf"(<!-- drawn: {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the page has no markers for {name!r}")
    return pattern.sub(lambda found: found[1] + block + found[2], text)


def update(page: Path, name: str, block: str, *, write: bool) -> bool:
    """True if the page has another text between its markers; it is written on request."""
    before = page.read_text(encoding="utf-8")
    after = with_block(before, name, block)
    if write and after != before:
        page.write_text(after, encoding="utf-8")
    return after != before


def printed_by_a_run() -> str:
    command = str(Path(sys.executable).with_name("gateproof"))
    with TemporaryDirectory() as folder:
        # The output names the report folder, and an existing report must not be replaced.
        return output_of(command, "run", cwd=Path(folder), limit_s=1200)


def output_of(*command: str, cwd: Path = ROOT, limit_s: float = 120) -> str:
    """The output of a command; if it fails, this program exits."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, timeout=limit_s, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with exit code {done.returncode}")
    return done.stdout


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="exit 1 where the page is another one")
    parser.add_argument("--run", type=Path, metavar="FILE", help="what `gateproof run` printed")
    parser.add_argument("--no-run", action="store_true", help="make no run")
    arguments = parser.parse_args(argv)
    parts = {name: (page, make()) for name, (page, make) in PARTS.items()}
    if arguments.run is not None or not (arguments.check or arguments.no_run):
        printed = printed_by_a_run() if arguments.run is None else arguments.run.read_text(encoding="utf-8")
        parts["run"] = README, run_block(printed)
    changed = [
        name for name, (page, block) in parts.items() if update(page, name, block, write=not arguments.check)
    ]
    if arguments.check:
        for name in changed:
            print(f"{parts[name][0].relative_to(ROOT)}, {name}: out of date, run make docs", file=sys.stderr)
    return int(arguments.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
