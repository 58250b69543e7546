"""What the command line asks of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.reports.baseline import Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """The K-th of N parts of a run."""

    k: int
    n: int

    def __str__(self) -> str:
        return f"{self.k}/{self.n}"

    def holds(self, position: int) -> bool:
        """True for the rules of this part: every N-th, so that the parts take about the same time."""
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
    fail_fast: bool = False
    shuffle: bool = False
    baseline: tuple[Entry, ...] = ()
    # Whether anything goes wrong on purpose, and how much is generated for each rule.
    faults: bool = True
    examples: int = 20
    # Whether the intercepting proxy takes part.
    intercept: bool = True
    # So many requests a second go to the target at most.
    rate: float | None = None
    # How long a campaign lasts, and where what failed in it is kept.
    minutes: float = 0.0
    database: Path | None = None
    # Single checks of the selected rules; None: all of them.
    chosen: frozenset[str] | None = None
    # Those of them that get a part of the examples only: nobody expects anything there.
    in_passing: frozenset[str] = frozenset()
    # A stored failure that the chosen check is to see again.
    replay: Mapping[str, Any] | None = None
    # Whether results come with the exchanges that they rest on; a proof reads verdicts alone.
    exchanges: bool = True
    command: str = "gateproof run"

    def left_out(self) -> dict[str, str]:
        """The needs that this run does not meet whatever the target offers, each with the reason."""
        found = {}
        if not self.faults:
            found["faults"] = "left out by --no-faults"
        if not self.intercept:
            found["intercepting-proxy"] = "left out by --no-intercept"
        if not self.examples:
            found["examples"] = "left out by --examples 0"
        return found
