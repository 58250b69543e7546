"""What is left of a fault: once it is over, the next run of the same install works."""

from __future__ import annotations

from conformance.agent import Agents, all_in_time, carried_out, ended, works
from conformance.check import check
from conformance.checks.agent._scenes import FAULTS, SERVICE_FORBIDS, recovered
from conformance.claims import fired, observe, require
from conformance.faults.fault import Fault, Hop, Layer
from fakes.gateway.script import Endpoint

# A user whom the service forbids something may be told so again: that is an answer, and no fault.
_PASSING = tuple(case for case in FAULTS if case != SERVICE_FORBIDS)


@check("ROBUST-02", needs=["faults"], cases=_PASSING)
def run_after_a_fault_works(agents: Agents, case: str) -> None:
    """Something fails throughout a run, and nothing does in the next."""
    works(agents.normal())
    endpoint, answer = FAULTS[case]
    run, after = recovered(agents, case).runs
    all_in_time([run])
    struck = sum(answer.whose in each.call.text() for each in run.calls(endpoint))
    require.that(struck > 0, run.what, expected="an agent that comes by", got="none that does")
    fired(_fault(case, endpoint), struck)
    observe(exit_code=run.exit_code)

    carried_out(ended(after))


def _fault(case: str, endpoint: Endpoint) -> Fault:
    to_service = endpoint in {Endpoint.OPERATION, Endpoint.METADATA}
    return Fault(
        name=case,
        layer=Layer.HTTP,
        hop=Hop.AGENT_TO_SERVICE if to_service else Hop.AGENT_TO_GATEWAY,
        does=f"throughout a run of the agent, {case}",
        holds="the next run of the same install ends with the orders",
    )
