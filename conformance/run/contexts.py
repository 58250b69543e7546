"""What every process of a run has to know, whatever the role."""

from __future__ import annotations

from typing import TypeAlias

from gateproof.conformance.run.agent_context import AgentContext
from gateproof.conformance.run.context import RunContext
from gateproof.conformance.run.prepare import Prepared
from gateproof.conformance.run.service_context import ServiceContext

Context: TypeAlias = RunContext | ServiceContext | AgentContext
AnyPrepared: TypeAlias = Prepared[RunContext] | Prepared[ServiceContext] | Prepared[AgentContext]
