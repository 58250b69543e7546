"""What a run has to know of any target, whatever its role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.targets.model import Target
from gateproof.conformance.wire.rate_limit import Pace
from gateproof.reports.verdicts import CheckResult

Held = Callable[[Any, CheckResult], None]


@dataclass(frozen=True, kw_only=True)
class Context:
    """One target, and how it is tested; each role adds the parties around it."""

    target: Target
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    seed: int
    run_id: str
    # How much is generated for each rule.
    examples: int = 20
    # The checks that get a part of that only.
    in_passing: frozenset[str] = frozenset()
    # What holds the requests of all processes back.
    pace: Pace | None = None
    # Where what is generated goes on for a time, instead of so many examples.
    campaign: Campaign | None = None
    # A stored failure that is to be seen again.
    replay: Mapping[str, Any] | None = None
    # Whether requests to the target say to which check they belong.
    trace: bool = False
    # Called in place of going on after a check that failed, with the bench of the check and its result.
    held: Held | None = None
    # Whether results come with the exchanges that they rest on.
    shows_exchanges: bool = True
