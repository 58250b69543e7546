"""The context of a run against an agent; each worker creates its own worlds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gateproof.conformance.kit.agent.world import Certificates
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.targets.model import AgentTarget


@dataclass(frozen=True, kw_only=True)
class AgentContext(Context):
    """One agent, and the settings of the worlds around its installs.

    No input is generated here. The agent itself sends the requests, so there is no rate limit.
    """

    target: AgentTarget
    certificates: Certificates
    agent_certificate: tuple[Path, Path]
    folder: Path
