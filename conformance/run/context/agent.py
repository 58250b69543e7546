"""What a run against an agent has to know; each worker makes worlds of its own around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateproof.conformance.kit.agent.world import Certificates
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.targets.model import AgentTarget
from gateproof.conformance.wire.rate_limit import Pace


@dataclass(frozen=True, kw_only=True)
class AgentContext:
    """One agent, and what the worlds around its installs are made of."""

    target: AgentTarget
    certificates: Certificates
    agent_certificate: tuple[Path, Path]
    folder: Path
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    seed: int
    run_id: str
    examples: int = 20
    # The checks that get a part of that only.
    in_passing: frozenset[str] = frozenset()
    # Nothing is generated here, and who sends requests is the agent.
    pace: Pace | None = None
    campaign: Campaign | None = None
    replay: Mapping[str, Any] | None = None
    shows_exchanges: bool = True
