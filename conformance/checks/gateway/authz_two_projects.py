"""An approval in one Project does not count in another Project that holds agents."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.approvals import require_approved
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.suite.parties import Agent, Resource


@check("AUTHZ-30", needs=["control:approve_agent"], cases={"pending-there-before": True, "new-there": False})
def approval_in_one_project_is_none_in_another(world: World, case: bool) -> None:
    """An agent that is held in two Projects and approved in one gets no code in the other."""
    world = world.in_one_browser()
    one, other = world.projects.two_holding_resources()
    _require_held(world, world.agents.new(), other)
    agent = world.agents.new()
    _require_held(world, agent, one)
    if case:
        # The agent authorizes in the other Project, too, before any approval.
        _require_held(world, agent, other)
    world.projects.approve_agent(agent, one)
    require_approved(world, agent, one)

    _is_held(world, agent, other, "sign-in in the other Project")


@check("AUTHZ-30")
def approval_by_a_policy_is_none_in_a_project_that_holds(world: World) -> None:
    """An agent that a Project approves by its policy gets no code in a Project that holds agents."""
    world = world.in_one_browser()
    holding, _ = world.projects.two_holding_resources()
    _require_held(world, world.agents.new(), holding)
    agent = world.agents.new()
    world.new_code(agent=agent)

    _is_held(world, agent, holding, "sign-in in the Project that holds agents")


def _is_held(world: World, agent: Agent, resource: Resource, what: str) -> None:
    """The agent gets no code, at the first and at the second try."""
    for which in ("first", "second"):
        visit = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
        no_code(visit, f"{which} {what}")


def _require_held(world: World, agent: Agent, resource: Resource) -> None:
    """An agent that nobody approved gets no code there, at the first and at the second try."""
    for _ in range(2):
        visit = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
        require.that(
            visit.ended() and not visit.codes(),
            "authorization in a holding Project",
            expected="no code",
            got=visit.outcome(),
        )
