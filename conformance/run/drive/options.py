"""The options of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.conformance.run.context.base import OnFailure
from gateproof.reports.baseline import Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """The K-th of N parts of a run."""

    k: int
    n: int

    def __str__(self) -> str:
        return f"{self.k}/{self.n}"

    def holds(self, position: int) -> bool:
        """True for the rules of this part: every N-th rule, so that the parts take similar time."""
        return position % self.n == self.k - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """One `gateproof run`."""

    role: str = "gateway"
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    shard: Shard | None = None
    workers: int = 1
    seed: int = 0
    profile: str = "ci"
    strict: bool = False
    certify: bool = False
    # How the gateway around an agent deviates from the specification.
    deviate: tuple[str, ...] = ()
    fail_fast: bool = False
    shuffle: bool = False
    baseline: tuple[Entry, ...] = ()
    # Whether faults are injected, and how many examples are generated for each rule.
    faults: bool = True
    examples: int = 20
    # Whether the intercepting proxy is used.
    intercept: bool = True
    # The maximum number of requests per second to the target.
    rate: float | None = None
    # The duration of a campaign, and the folder for its failures.
    minutes: float = 0.0
    database: Path | None = None
    # After this time the run ends, with the results so far.
    max_minutes: float = 240.0
    # Whether each request to the target carries headers that name its check.
    trace: bool = False
    # Single checks of the selected rules; None: all of them.
    chosen: frozenset[str] | None = None
    # Those of the chosen checks that get only a part of the examples, because no failure is expected.
    reduced_examples: frozenset[str] = frozenset()
    # A stored failure that the chosen check has to repeat.
    replay: Mapping[str, Any] | None = None
    # Whether results include exchanges; a proof needs only the verdicts.
    exchanges: bool = True
    # Called after a check that failed, while the target and everything around it still run.
    held: OnFailure | None = None
    command: str = "gateproof run"

    def left_out(self) -> dict[str, str]:
        """The needs that the options of this run exclude, each with the reason."""
        found = {}
        if not self.faults:
            found["faults"] = "left out by --no-faults"
        if not self.intercept:
            found["intercepting-proxy"] = "left out by --no-intercept"
        if not self.examples:
            found["examples"] = "left out by --examples 0"
        return found
