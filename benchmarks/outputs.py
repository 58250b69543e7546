"""Measures the cost of the record and the default outputs, as a share of the run.

Runs the embedded reference once, and measures the record and the outputs in the same process. Both times are
processor time, for the run that of all its processes: on a busy machine, a share of wall time would be too
small.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateproof.conformance.cli.outputs import write_all
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.reports.evidence import EvidenceWriter
from gateproof.reports.formats import DEFAULT
from gateproof.reports.record import FILE, read, result_of
from gateproof.reports.signing import signing_key

BOUND = 0.10


class Stopwatch:
    """Adds up the processor time of calls of a function."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            begun = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.process_time() - begun

        return timed


def processor_s() -> float:
    """The processor time of this process and its ended children."""
    return sum(os.times()[:4])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="measure with these rules"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="of the run")
    parser.add_argument("--check", action="store_true", help="exit 1 when the share is above its bound")
    arguments = parser.parse_args()
    selected = rules.select(rules.load().for_role("gateway"), arguments.only)
    recording, drawing = Stopwatch(), Stopwatch()
    for name in ("header", "check", "footer"):
        setattr(EvidenceWriter, name, recording.around(getattr(EvidenceWriter, name)))
    with tempfile.TemporaryDirectory() as folder:
        begun, wall = processor_s(), time.monotonic()
        place = Path(folder)
        options = RunOptions(seed=1, workers=arguments.workers)
        result = carry_out(Embedded(), selected, options, lambda _: None, place)
        ran, wall = processor_s() - begun, time.monotonic() - wall
        draw = drawing.around(
            lambda: write_all(result_of(read(place / FILE)), place, DEFAULT, signing_key(None, {}))
        )
        draw()
        size = (place / FILE).stat().st_size
    written = recording.seconds + drawing.seconds
    share = written / (ran - recording.seconds)
    print(f"{len(selected)} rules: {ran:.2f} s of processor time, {wall:.2f} s on the wall")
    print(
        f"record: {recording.seconds:.2f} s, {size / 1e6:.1f} MB; outputs and seal: {drawing.seconds:.2f} s"
    )
    print(f"they add {share:.1%} to the run (bound {BOUND:.0%}); verdict of the run: {result.verdict.value}")
    return 1 if arguments.check and share > BOUND else 0


if __name__ == "__main__":
    sys.exit(main())
