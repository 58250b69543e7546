"""An approval that holds in every process of the gateway."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came, pending_agent
from gateproof.conformance.kit.gateway.approvals import require_approved
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import APPROVAL_S

# With two processes, an authorization reaches the one that learned nothing of the approval soon enough.
VISITS = 8


@check("AUTHZ-08", needs=["control:approve_agent", "sign-in:browser"])
def approved_agent_gets_a_code_every_time(world: World) -> None:
    """Some seconds after an approval, every authorization of the agent gives a code, not only the first."""
    resource = world.projects.holding_resource()
    agent = pending_agent(world, resource)
    world.projects.approve_agent(agent, resource)
    require_approved(world, agent, resource)
    wait_for(Cause.RECOVERY, APPROVAL_S)

    for number in range(1, VISITS + 1):
        visit = world.gateway.visit(world.attempt(agent, resource=resource))
        code_came(visit, f"authorization {number} of {VISITS} of an approved agent")
