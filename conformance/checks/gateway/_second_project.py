"""An agent in a second Project: a gateway may let an agent into one Project only (AUTHZ-30)."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Agent, Grant, Resource, User


def agents_for(world: World, resources: Sequence[Resource]) -> list[Agent]:
    """One agent for each Resource; Resources of the same Project share an agent."""
    agents = {project_id: world.agents.new() for project_id in {each.project_id for each in resources}}
    return [agents[resource.project_id] for resource in resources]


def grant_at(world: World, agent: Agent, resource: Resource, user: User | None = None) -> Grant:
    """Tokens for this Resource: the agent's own, or a new agent's if this one belongs to another Project."""
    attempt = world.attempt(agent, resource=resource, user=user)
    visit = world.gateway.visit(attempt, wherever=True)
    if not visit.codes() and not visit.crashed():
        return world.grant(resource=resource, user=user)
    code = require_code(world.gateway, visit)
    return world.grant_of(world.authorization_of(attempt, code), attempt)


def grant_at_for_same_agent(world: World, agent: Agent, resource: Resource) -> Grant:
    """The agent's own tokens for this Resource; left out if the agent belongs to another Project."""
    grant = grant_at(world, agent, resource)
    if grant.agent.client_id != agent.client_id:
        raise LeftOut("the gateway lets an agent into one Project only")
    return grant
