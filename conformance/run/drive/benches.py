"""Every role has a workplace of its own."""

from __future__ import annotations

from typing import TypeAlias

from gateproof.conformance.run.agent.bench import AgentBench
from gateproof.conformance.run.context.agent import AgentContext
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.drive.contexts import Context
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.run.service.bench import ServiceBench

AnyBench: TypeAlias = GatewayBench | ServiceBench | AgentBench


def open_bench(context: Context) -> AnyBench:
    """The workplace in which the checks of this run are carried out."""
    if isinstance(context, AgentContext):
        return AgentBench(context)
    return ServiceBench(context) if isinstance(context, ServiceContext) else GatewayBench(context)
