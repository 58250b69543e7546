"""`python judging.py` reads the path of a target file a line, and says by line what the suite finds there.

Many small runs in one process: what a run costs before its first check, a test of many targets pays once.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.prepare.gateway import set_stage
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.reports import report_json

SEED = 7


def main() -> None:
    everything = rules.load()
    with TemporaryDirectory() as folder, ExitStack() as stack:
        stage = set_stage(Path(folder), SEED, stack)
        for line in sys.stdin:
            asked = json.loads(line)
            file = Path(asked["target"])
            target = load(file)
            role = target.role
            options = RunOptions(role=role, seed=SEED, only=tuple(asked["only"]), faults=asked["faults"])
            result = carry_out(
                target,
                rules.select(everything.for_role(role), options.only),
                options,
                lambda _: None,
                file.parent,
                stage,
            )
            report = json.loads(next(iter(report_json.render(result).values())))
            print(json.dumps(report | {"exit_code": result.verdict.exit_code}), flush=True)


if __name__ == "__main__":
    main()
