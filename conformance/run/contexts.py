"""What every process of a run has to know, whatever the role."""

from __future__ import annotations

from typing import TypeAlias

from conformance.run.agent_context import AgentContext
from conformance.run.context import RunContext
from conformance.run.prepare import Prepared
from conformance.run.service_context import ServiceContext

Context: TypeAlias = RunContext | ServiceContext | AgentContext
AnyPrepared: TypeAlias = Prepared[RunContext] | Prepared[ServiceContext] | Prepared[AgentContext]
