"""Requests at the token endpoint with everything right, and a field more than they have."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import refreshed
from gateproof.conformance.checks.gateway._renewed import renewed
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.parties import Agent, Resource
from gateproof.conformance.wire.exchange import Exchange

GRANTS = ("exchange", "refresh")


def with_field(
    world: World, grant: str, name: str, value: str, *, agent: Agent, resource: Resource
) -> Exchange:
    """An exchange or a refresh of this agent's; a refresh is left out where none is understood."""
    if grant == "exchange":
        authorization = world.new_code(agent=agent, resource=resource)
        return world.gateway.exchange(authorization, **{name: value})
    renewed(world)
    given = world.grant(agent=agent, resource=resource)
    return refreshed(world.gateway, agent, given.refresh_token.reveal(), (name, value))
