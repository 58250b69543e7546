"""Selects the bench class for the role of a run."""

from __future__ import annotations

from gateproof.conformance.run.agent.bench import AgentBench
from gateproof.conformance.run.bench import Bench
from gateproof.conformance.run.context.agent import AgentContext
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.run.service.bench import ServiceBench


def open_bench(context: Context) -> Bench:
    """The bench on which the checks of this run are carried out."""
    match context:
        case GatewayContext():
            return GatewayBench(context)
        case ServiceContext():
            return ServiceBench(context)
        case AgentContext():
            return AgentBench(context)
    raise TypeError(f"no bench for {type(context).__name__}")
