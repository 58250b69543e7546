"""A Pending agent is Pending at all Resources of its Project, until it is approved itself."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came, no_code
from gateproof.conformance.kit.gateway.approvals import require_approved, visit_after_approval
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.suite.parties import Agent, Resource, User


@check(
    "AUTHZ-07",
    needs=["control:create_project", "control:create_resource"],
    cases={"first-resource-first": 1, "second-resource-first": -1},
)
def pending_agent_gets_no_code_at_any_resource(world: World, case: int) -> None:
    """A Pending agent gets no code at either of the two Resources of its Project, in either order."""
    world = world.in_one_browser()
    resources = _held_resources(world)[::case]
    agent = world.agents.new()
    for resource in (*resources, resources[0]):
        _is_held(world, agent, resource, f"sign-in at the Resource {resource.indicator}")


@check("AUTHZ-07", needs=["control:create_project", "control:set_agent_policy"])
def project_created_to_hold_agents_gives_no_code(world: World) -> None:
    """In a Project that was created with the policy `hold`, a new agent gets no code."""
    world = world.in_one_browser()
    world.new_code()
    project = world.projects.new(agent_policy="hold")

    _is_held(world, world.agents.new(), project.resource, "sign-in in a Project created to hold agents")
    world.projects.set_agent_policy(project, "approve")
    world.new_code(resource=project.resource)


@check("AUTHZ-07", needs=["control:approve_agent"])
def pending_agent_gets_no_code_beside_an_approved_one(world: World) -> None:
    """A Pending agent gets no code in the browser in which an approved agent has just got one.

    If there is a second user, it gets no code from that user either.
    """
    world = world.in_one_browser()
    resource = world.projects.holding_resource()
    pending, approved = world.agents.new(), world.agents.new()
    for agent in (pending, approved):
        require_held(world, agent, resource)
    world.projects.approve_agent(approved, resource)
    require_approved(world, approved, resource)

    for user in world.users[:2]:
        _is_held(world, pending, resource, f"sign-in beside an approved agent, as {user.name}", user)


@check(
    "AUTHZ-07",
    needs=["control:approve_agent", "control:advance_clock"],
    cases={"more-than-a-day": 25 * 3600, "a-month": 32 * 86_400},
)
def pending_agent_gets_no_code_later(world: World, case: int) -> None:
    """A Pending agent gets no code after a long time, although another agent is then approved."""
    resource = world.projects.holding_resource()
    pending = world.agents.new()
    require_held(world, pending, resource)
    world.clock.advance(case)
    approved = world.agents.new()
    require_held(world, approved, resource)
    world.projects.approve_agent(approved, resource)
    require_approved(world, approved, resource)

    for again in ("", ", again"):
        _is_held(world, pending, resource, f"sign-in of an agent that has waited{again}")


@check(
    "AUTHZ-08",
    needs=["control:create_project", "control:create_resource", "control:set_agent_policy"],
)
def approved_agent_gets_its_code_at_every_resource(world: World) -> None:
    """An agent that an operator approved in a Project gets a code at both of its Resources."""
    world = world.in_one_browser()
    resources = _held_resources(world)
    agent = world.agents.new()
    require_held(world, agent, resources[0])
    world.projects.approve_agent(agent, resources[0])

    for which, resource in zip(("first", "second"), resources, strict=True):
        visit = visit_after_approval(world, agent, resource)
        code_came(visit, f"authorization after the approval, at the {which} Resource")


def _held_resources(world: World) -> tuple[Resource, Resource]:
    """Two Resources of a Project that holds agents from now on; until then each of them gives codes."""
    project = world.projects.new()
    second = world.projects.resource(
        indicator=f"https://api.merchant.example/v2/{world.unique()}", project=project
    )
    for resource in (project.resource, second):
        world.new_code(resource=resource)
    world.projects.set_agent_policy(project, "hold")
    return project.resource, second


def _is_held(world: World, agent: Agent, resource: Resource, what: str, user: User | None = None) -> None:
    visit = world.gateway.visit(world.attempt(agent, resource=resource, user=user), wherever=True)
    no_code(visit, what)


def require_held(world: World, agent: Agent, resource: Resource) -> None:
    visit = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
    require.that(
        visit.ended() and not visit.codes(),
        "first authorization in a holding Project",
        expected="no code",
        got=visit.outcome(),
    )
