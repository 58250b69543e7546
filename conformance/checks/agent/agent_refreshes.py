"""How an agent that refreshes its tokens authenticates at the token endpoint.

The specification shows no fields of a refresh, so none is judged. It shows how agents authenticate.
"""

from __future__ import annotations

from gateproof.conformance.checks.agent._messages import authenticates_in_the_body_alone
from gateproof.conformance.checks.agent._shared_runs import fault_sequence, refresh_runs, renewed_by_the_clock
from gateproof.conformance.kit.agent.agent import Agents, require_done
from gateproof.conformance.kit.agent.launch import Ended
from gateproof.conformance.kit.agent.world import ReceivedRequest
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe


@check("AGENT-06")
def refresh_authenticates_in_the_body_alone(agents: Agents) -> None:
    """A refresh has no Basic header and no secret in its URL, whatever made the agent refresh.

    This includes refreshes that fail, and those after them.
    """
    require_done(agents.normal())
    made = _refreshes(agents)
    observe(refreshes=len(made))
    if not made:
        raise LeftOut("the agent refreshed no token")

    authenticates_in_the_body_alone(made)


def _refreshes(agents: Agents) -> list[ReceivedRequest]:
    installs = (refresh_runs(agents), renewed_by_the_clock(agents), fault_sequence(agents))
    runs = [run for install in installs for run in install.runs if run.ended is not Ended.AT_LIMIT]
    return [each for run in runs for each in run.refreshes()]
