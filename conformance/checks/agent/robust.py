"""What is left of a fault: once it is over, the next run of the same install works."""

from __future__ import annotations

from conformance.agent import Agents, carried_out, ended, works
from conformance.check import check
from conformance.claims import fired, require
from conformance.faults.fault import Fault, Hop, Layer
from conformance.run.agent_world import AgentWorld
from fakes.gateway.script import Answer, Endpoint, Script

FAULTS = {
    "the token endpoint fails": (Endpoint.TOKEN, Answer(status=500)),
    "the token answer is no JSON": (Endpoint.TOKEN, Answer(body=b"<html>")),
    "the token endpoint hangs up": (Endpoint.TOKEN, Answer(reset=True)),
    "the registration is refused": (Endpoint.REGISTRATION, Answer(status=400)),
    "the registration brings no client": (
        Endpoint.REGISTRATION,
        Answer(members={"client_id": None, "client_secret": None}),
    ),
    "discovery fails": (Endpoint.DISCOVERY, Answer(status=503)),
}


@check("ROBUST-02", needs=["faults"], cases=tuple(FAULTS))
def run_after_a_fault_works(agents: Agents, case: str) -> None:
    """Something fails throughout a run, and nothing does in the next."""
    works(agents.normal())
    endpoint, answer = FAULTS[case]
    install = agents.install()
    script = _script(install.world, endpoint)
    script.always(endpoint, answer)
    run = ended(install.launch(f"a run in which {case}"))
    script.clear()
    struck = len(run.calls(endpoint))
    require.that(
        struck > 0, f"a run in which {case}", expected="an agent that comes by", got="none that does"
    )
    fired(_fault(case), struck)

    carried_out(ended(install.launch(f"the run after one in which {case}")))


def _fault(case: str) -> Fault:
    return Fault(
        name=case,
        layer=Layer.HTTP,
        hop=Hop.AGENT_TO_GATEWAY,
        does=f"throughout a run of the agent, {case}",
        holds="the next run of the same install ends with the orders",
    )


def _script(world: AgentWorld, endpoint: Endpoint) -> Script:
    return world.service.script if endpoint is Endpoint.METADATA else world.desk.script
