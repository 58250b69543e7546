"""How often gateways that let others in between are seen to: one run a seed.

Each shipped defect of concurrency is put under the races of its right rule, once for every seed. Beside them
stands the honest gateway, which has to get through every race.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.checks import homes
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.scope import rules_of
from conformance.run.session import carry_out
from conformance.run.trials import own_place
from reference.defects.defect import Defect
from reference.defects.gateway_races import RACES
from reference.defects.gateway_races_vault import VAULT_RACES
from reports.verdicts import Verdict

# Of twenty seeds, so many have to see it.
BOUND = 19 / 20


def races(rule: str | None = None) -> frozenset[str]:
    """The identifiers of the races of a rule, or of all rules."""
    return frozenset(
        case
        for module, checks in homes("gateway").items()
        if module.endswith("_races")
        for check in checks
        for case in check.ids()
        if rule is None or check.rule == rule
    )


def failed(program: Sequence[str], chosen: frozenset[str], seed: int, examples: int) -> set[str]:
    """The rules that fail in one run of these checks."""
    place = own_place(seed)
    options = RunOptions(seed=seed, chosen=chosen, examples=examples, exchanges=False)
    target = Embedded(name=program[-1], program=(*place.runner(), *program))
    with TemporaryDirectory(prefix="gateproof-races-") as folder:
        result = carry_out(
            target, rules_of(chosen, "gateway"), options, lambda _: None, Path(folder), place.stage()
        )
    odd = [rule for rule in result.rules if rule.verdict not in {Verdict.PASSED, Verdict.FAILED}]
    for rule in odd:
        print(f"  seed {seed}: {rule.id} {rule.verdict.value}: {rule.reason}", flush=True)
    return {rule.id for rule in result.rules if rule.verdict is Verdict.FAILED}


def measure(defect: Defect, seeds: range, examples: int) -> int:
    """In how many runs the defect is seen by its right rule."""
    chosen, spent = races(defect.rules[0]), []
    seen = 0
    for seed in seeds:
        begun = time.monotonic()
        found = failed(("reference.defects", "gateway", defect.name), chosen, seed, examples)
        spent.append(time.monotonic() - begun)
        seen += defect.rules[0] in found
    median = statistics.median(spent)
    print(f"{defect.rules[0]:10} {seen:3} of {len(seeds)}  {median:5.1f} s a run  {defect.name}", flush=True)
    return seen


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="*", help="defects whose names match this pattern")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--examples", type=int, default=20, help="the budget that races grow with")
    parser.add_argument("--check", action="store_true", help="exit 1 below 19 of 20, or on a false alarm")
    arguments = parser.parse_args(argv)
    seeds, bad = range(arguments.seeds), 0
    for defect in (*RACES, *VAULT_RACES):
        if fnmatchcase(defect.name, arguments.only):
            bad += measure(defect, seeds, arguments.examples) < BOUND * len(seeds)
    alarms = [failed(("reference.gateway",), races(), seed, arguments.examples) for seed in seeds]
    print(f"honest gateway: {sum(map(bool, alarms))} of {len(alarms)} runs with a false alarm")
    return 1 if arguments.check and (bad or any(alarms)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
