"""Whether an agent is a client of MCP."""

from __future__ import annotations

from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import SERVICE
from gateproof.fakes.gateway.script import Endpoint
from gateproof.fakes.orders_service import calls_a_tool

NO_MCP = "the agent is no client of MCP"


def is_mcp(run: Run) -> bool:
    """True if the agent called a tool over MCP."""
    return any(calls_a_tool(each.call) for each in run.calls(Endpoint.OPERATION, party=SERVICE))
