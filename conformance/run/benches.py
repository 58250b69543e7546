"""Every role has a workplace of its own."""

from __future__ import annotations

from typing import TypeAlias

from gateproof.conformance.run.agent_bench import AgentBench
from gateproof.conformance.run.agent_context import AgentContext
from gateproof.conformance.run.bench import Bench
from gateproof.conformance.run.contexts import Context
from gateproof.conformance.run.service_bench import ServiceBench
from gateproof.conformance.run.service_context import ServiceContext

AnyBench: TypeAlias = Bench | ServiceBench | AgentBench


def open_bench(context: Context) -> AnyBench:
    """The workplace in which the checks of this run are carried out."""
    if isinstance(context, AgentContext):
        return AgentBench(context)
    return ServiceBench(context) if isinstance(context, ServiceContext) else Bench(context)
