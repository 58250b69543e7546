"""A stored race, run again with the same schedule as often as asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance import rules
from conformance.checks import index
from conformance.racing import examples_for
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.session import carry_out
from conformance.target.model import Target
from reports.verdicts import CheckResult, Verdict

KIND = "race"
_NUMBERS = ("seed", "racers", "rounds")


class NoRace(ValueError):
    """What was stored describes no race that can be run: says what was found and what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRace:
    """One case of a check, with its seed and the budget of examples that makes its races this large."""

    check: str
    seed: int
    examples: int

    @property
    def rule(self) -> str:
        return self.check.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeated:
    """How often a race was run and how often it failed; what neither passed nor failed is `untested`."""

    times: int
    failed: int
    untested: int

    def said(self) -> str:
        ran = f"failed {self.failed} of {self.times} times"
        return f"{ran}, untested {self.untested} times" if self.untested else ran


def stored_race(raw: Mapping[str, Any]) -> StoredRace:
    """The race that a failed check left behind; every member is needed, and no other is known."""
    known = {"kind", "check", *_NUMBERS}
    if raw.get("kind") != KIND:
        raise NoRace(f"kind: found {raw.get('kind')!r}, expected {KIND!r}")
    if odd := sorted(raw.keys() ^ known):
        raise NoRace(f"{', '.join(odd)}: expected exactly {', '.join(sorted(known))}")
    for name in _NUMBERS:
        if isinstance(raw[name], bool) or not isinstance(raw[name], int) or raw[name] < 0:
            raise NoRace(f"{name}: found {raw[name]!r}, expected a whole number")
    if raw["check"] not in _cases():
        raise NoRace(f"check: found {raw['check']!r}, which is no check of this version")
    examples = examples_for(raw["racers"], raw["rounds"])
    if examples is None:
        raise NoRace(
            f"{raw['racers']} racers in {raw['rounds']} rounds: no --examples makes races of this size"
        )
    return StoredRace(check=raw["check"], seed=raw["seed"], examples=examples)


def run_again(
    race: StoredRace,
    target: Target | Embedded,
    times: int,
    ended: Callable[[CheckResult], None] = lambda _: None,
) -> Repeated:
    """Runs the race so many times, each from the start with the seed that it had."""
    options = RunOptions(seed=race.seed, examples=race.examples, chosen=frozenset({race.check}))
    rule = rules.load()[race.rule]
    verdicts: list[Verdict] = []

    def note(result: CheckResult) -> None:
        verdicts.append(result.verdict)
        ended(result)

    for _ in range(times):
        with TemporaryDirectory(prefix="gateproof-again-") as folder:
            carry_out(target, [rule], options, note, Path(folder))
    failed, passed = verdicts.count(Verdict.FAILED), verdicts.count(Verdict.PASSED)
    # A run that could not begin has no verdict at all.
    return Repeated(times=times, failed=failed, untested=times - failed - passed)


def _cases() -> frozenset[str]:
    return frozenset(case for checks in index("gateway").values() for check in checks for case in check.ids())
