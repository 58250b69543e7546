"""How an agent that refreshes its tokens authenticates at the token endpoint.

The specification shows no fields of a refresh, so none is judged. It shows how agents authenticate.
"""

from __future__ import annotations

from gateproof.conformance.checks.agent._messages import authenticates_in_the_body_alone
from gateproof.conformance.checks.agent._shared_runs import renewed, renewed_by_the_clock, troubled
from gateproof.conformance.kit.agent.agent import Agents, works
from gateproof.conformance.kit.agent.launch import Ended
from gateproof.conformance.kit.agent.world import Heard
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe


@check("AGENT-06")
def refresh_authenticates_in_the_body_alone(agents: Agents) -> None:
    """A refresh has no Basic header and no secret in its URL, whatever made the agent refresh.

    This includes refreshes that fail, and those after them.
    """
    works(agents.normal())
    made = _refreshes(agents)
    observe(refreshes=len(made))
    if not made:
        raise LeftOut("the agent refreshed no token")

    authenticates_in_the_body_alone(made)


def _refreshes(agents: Agents) -> list[Heard]:
    installs = (renewed(agents), renewed_by_the_clock(agents), troubled(agents))
    runs = [run for install in installs for run in install.runs if run.ended is not Ended.AT_LIMIT]
    return [each for run in runs for each in run.refreshes()]
