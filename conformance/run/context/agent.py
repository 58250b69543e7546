"""What a run against an agent has to know; each worker makes worlds of its own around it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gateproof.conformance.kit.agent.world import Certificates
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.targets.model import AgentTarget


@dataclass(frozen=True, kw_only=True)
class AgentContext(Context):
    """One agent, and what the worlds around its installs are made of.

    Nothing is generated here, and who sends requests is the agent: no pace holds it back.
    """

    target: AgentTarget
    certificates: Certificates
    agent_certificate: tuple[Path, Path]
    folder: Path
