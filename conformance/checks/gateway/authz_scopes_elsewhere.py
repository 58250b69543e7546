"""Scopes that a user has approved for an agent at another Resource."""

from __future__ import annotations

from gateproof.conformance.checks.gateway.authz_scope import does_not_grant, holds_none
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Agent


@check("AUTHZ-18", needs=["control:create_resource"])
def scope_approved_at_another_resource_is_not_granted(world: World) -> None:
    """A scope that the user approved for this agent at another Resource is not granted to it at this one."""
    world = world.in_one_browser()
    agent, foreign = _agent_with_a_scope_elsewhere(world)

    does_not_grant(world, world.attempt(agent), foreign)


@check("AUTHZ-18", needs=["control:create_resource"])
def scope_approved_at_another_resource_is_not_added(world: World) -> None:
    """Tokens of this Resource have no scope of another one, where the user approved the same agent before."""
    world = world.in_one_browser()
    agent, foreign = _agent_with_a_scope_elsewhere(world)

    holds_none(world.grant(agent=agent).answer, foreign)


def _agent_with_a_scope_elsewhere(world: World) -> tuple[Agent, str]:
    """An agent that has tokens of another Resource of the Project, and the scope of that Resource alone."""
    foreign = f"refunds:{world.unique()}"
    other = world.projects.resource(
        indicator=f"https://api.merchant.example/v3/{world.unique()}", scopes=(foreign,)
    )
    agent = world.agents.new()
    world.grant(agent=agent, resource=other)
    return agent, foreign
