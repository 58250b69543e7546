"""An operator's approval is about the agent, whichever user has tried it before."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._visits import code_came, pending_agent
from gateproof.conformance.kit.gateway.approvals import visit_after_approval
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("AUTHZ-08", needs=["users:2"])
def approved_agent_gets_its_code_for_every_user(world: World) -> None:
    """An agent that became Pending when one user signed in gets codes for two users once approved.

    The other user comes first. Before, that user got a code for another agent, in another Project.
    """
    world.new_code(user=world.users[1])
    resource = world.projects.holding_resource()
    agent = pending_agent(world, resource)
    world.projects.approve_agent(agent, resource)

    for which, user in (("another user", world.users[1]), ("the user who tried before", world.users[0])):
        visit = visit_after_approval(replace(world, users=(user,)), agent, resource)
        code_came(visit, f"authorization after the approval, as {which}")
