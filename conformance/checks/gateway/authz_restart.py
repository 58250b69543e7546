"""Pending and approved agents after the target was killed and started again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came, no_code, pending_agent
from gateproof.conformance.kit.gateway.approvals import require_approved, visit_after_approval
from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check

HOLDS = ["control:set_agent_policy", "control:approve_agent"]


@check("AUTHZ-07", needs=["restart", *HOLDS], cases={"new": False, "pending-before": True})
def held_agent_gets_no_code_after_a_restart(world: World, case: bool) -> None:
    """In a holding Project, an unapproved agent gets no code after a restart; one approved before gets one.

    The unapproved agent was Pending before, or is new.
    """
    there = world.instance().world()
    resource = there.projects.holding_resource()
    pending, approved = pending_agent(there, resource), pending_agent(there, resource)
    there.projects.approve_agent(approved, resource)
    kill_and_start(world)
    require_approved(there, approved, resource)

    attempt = there.attempt(pending if case else there.agents.new(), resource=resource)
    no_code(there.gateway.visit(attempt, wherever=True), "sign-in in a holding Project after a restart")


@check("AUTHZ-08", needs=["restart", *HOLDS])
def approved_agent_gets_a_code_after_a_restart(world: World) -> None:
    """An agent that an operator approved before a restart gets a code after it."""
    there = world.instance().world()
    resource = there.projects.holding_resource()
    agent = pending_agent(there, resource)
    there.projects.approve_agent(agent, resource)
    kill_and_start(world)

    visit = visit_after_approval(there, agent, resource)
    code_came(visit, "authorization of an approved agent after a restart")
