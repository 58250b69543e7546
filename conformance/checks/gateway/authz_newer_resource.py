"""Resources that are created after an agent's first authorization."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came, no_code
from gateproof.conformance.checks.gateway.authz_pending import require_held
from gateproof.conformance.kit.gateway.approvals import require_approved, visit_after_approval
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Agent, Project, Resource

CREATES = ["control:create_project", "control:create_resource"]
HOLDS = [*CREATES, "control:set_agent_policy", "control:approve_agent"]


@check("AUTHZ-01", needs=CREATES)
def agent_gets_a_code_at_a_newer_resource(world: World) -> None:
    """An agent that has got a code gets one at a Resource of the Project that was created since."""
    world = world.in_one_browser()
    project, agent = world.projects.new(), world.agents.new()
    world.new_code(agent=agent, resource=project.resource)

    visit = world.gateway.visit(world.attempt(agent, resource=_newer(world, project)))
    code_came(visit, "authorization at a Resource that is newer than the agent's first authorization")


@check("AUTHZ-07", needs=HOLDS)
def pending_agent_gets_no_code_at_a_newer_resource(world: World) -> None:
    """A Pending agent gets no code at a Resource that was created since, and neither does a new agent.

    An agent that was approved before gets a code there.
    """
    world = world.in_one_browser()
    project, pending, approved = _holding(world)
    newer = _newer(world, project)
    require_approved(world, approved, newer)

    for agent, which in ((pending, "a Pending agent"), (world.agents.new(), "a new agent")):
        visit = world.gateway.visit(world.attempt(agent, resource=newer), wherever=True)
        no_code(visit, f"sign-in of {which} at a Resource that was created after the Project held agents")


@check("AUTHZ-08", needs=HOLDS)
def approved_agent_gets_a_code_at_a_newer_resource(world: World) -> None:
    """An agent that an operator has approved gets a code at a Resource that was created since."""
    world = world.in_one_browser()
    project, _, approved = _holding(world)

    visit = visit_after_approval(world, approved, _newer(world, project))
    code_came(visit, "authorization at a Resource that is newer than the approval of the agent")


def _holding(world: World) -> tuple[Project, Agent, Agent]:
    """A new Project that holds agents, one that is Pending there, and one that is approved."""
    project = world.projects.new()
    world.projects.set_agent_policy(project, "hold")
    pending, approved = world.agents.new(), world.agents.new()
    for agent in (pending, approved):
        require_held(world, agent, project.resource)
    world.projects.approve_agent(approved, project.resource)
    require_approved(world, approved, project.resource)
    return project, pending, approved


def _newer(world: World, project: Project) -> Resource:
    indicator = f"https://api.merchant.example/v2/{world.unique()}"
    return world.projects.resource(indicator=indicator, project=project)
