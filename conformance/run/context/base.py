"""What a run has to know about a target of any role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.targets.model import Target
from gateproof.conformance.wire.rate_limit import Pace
from gateproof.reports.verdicts import CheckResult

OnFailure = Callable[[Any, CheckResult], None]


@dataclass(frozen=True, kw_only=True)
class Context:
    """One target, and how it is tested; the subclass of a role adds the parties around it."""

    target: Target
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    seed: int
    run_id: str
    # The number of generated examples for each rule.
    examples: int = 20
    # The checks that get only a part of the examples.
    reduced_examples: frozenset[str] = frozenset()
    # The rate limit for the requests of all processes.
    pace: Pace | None = None
    # In a campaign, input is generated until a time limit, instead of a number of examples.
    campaign: Campaign | None = None
    # A stored failure to repeat.
    replay: Mapping[str, Any] | None = None
    # Whether requests to the target carry headers that name their check.
    trace: bool = False
    # Called after a failed check, with its bench and result, while everything still runs.
    held: OnFailure | None = None
    # Whether results include their exchanges.
    shows_exchanges: bool = True
