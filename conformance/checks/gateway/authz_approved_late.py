"""Agents that an operator approves long after their first attempt."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came, pending_agent
from gateproof.conformance.kit.gateway.approvals import visit_after_approval
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.targets.control import ControlFailed

WAITS = {"more-than-a-day": 25 * 3600, "eight-days": 8 * 86_400}


@check("AUTHZ-08", needs=["control:approve_agent", "control:advance_clock"], cases=WAITS)
def agent_that_waited_gets_its_code_once_approved(world: World, case: int) -> None:
    """An agent that tried again after a long wait and is then approved gets a code.

    It tries again before the approval, since a gateway may end the Pending state after a while.
    """
    resource = world.projects.holding_resource()
    agent = pending_agent(world, resource)
    world.clock.advance(case)
    held = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
    require.that(
        held.ended() and not held.codes(),
        "authorization of an agent that has waited",
        expected="no code",
        got=held.outcome(),
    )
    try:
        world.projects.approve_agent(agent, resource)
    except ControlFailed as failed:
        raise LeftOut("the operator cannot approve an agent that has waited for so long") from failed

    code_came(visit_after_approval(world, agent, resource), "authorization after a late approval")
