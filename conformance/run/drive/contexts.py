"""What every process of a run has to know, whatever the role."""

from __future__ import annotations

from typing import TypeAlias

from gateproof.conformance.run.context.agent import AgentContext
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.gateway import Prepared

Context: TypeAlias = GatewayContext | ServiceContext | AgentContext
AnyPrepared: TypeAlias = Prepared[GatewayContext] | Prepared[ServiceContext] | Prepared[AgentContext]
