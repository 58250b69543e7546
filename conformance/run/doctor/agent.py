"""Diagnosis of an agent, by one run in a world without faults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from gateproof.conformance.checks import index
from gateproof.conformance.kit.agent.agent import exchanges
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.run.agent.bench import AgentBench
from gateproof.conformance.run.context.agent import AgentContext
from gateproof.conformance.run.doctor.diagnosis import Diagnosis
from gateproof.conformance.run.doctor.testability import only, prospects
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.claims import tallying
from gateproof.fakes.gateway.script import Endpoint

# The need of most rules for a normal run that succeeds, and the rule that tests this run.
_NORMAL_RUN = "normal run"
_JUDGES_THE_NORMAL_RUN = ("AGENT-01",)


def diagnose_agent(context: AgentContext) -> Diagnosis:
    """Launches the agent once; if that fails, the hint says how far it came."""
    with closing(AgentBench(context)) as bench, tallying():
        run = bench.agents.normal()
    found = prospects(rules.load().for_role("agent"), index("agent"), context.capabilities)
    return Diagnosis(
        name=context.target.name,
        role="agent",
        prospects=tuple(found if run.done else only(found, _JUDGES_THE_NORMAL_RUN, _NORMAL_RUN)),
        missing={**context.missing, _NORMAL_RUN: "needs a normal run that succeeds"},
        doubts=() if run.done else tuple(_doubts(run)),
    )


def _doubts(run: Run) -> Iterator[str]:
    """How far the agent came, and how it ended."""
    steps = {
        "call the service": bool(run.calls(Endpoint.OPERATION)),
        "read the service's metadata": bool(run.calls(Endpoint.METADATA)),
        "read the gateway's discovery document": bool(run.calls(Endpoint.DISCOVERY)),
        "register": bool(run.calls(Endpoint.REGISTRATION)),
        "open the authorization URL with BROWSER, or print it": bool(run.visits),
        "take the redirect at its callback": any(
            status is not None for visit in run.visits for status in visit.statuses
        ),
        "exchange the code": bool(exchanges(run)),
        "read the orders": run.served,
    }
    missed = next((step for step, done in steps.items() if not done), None)
    if missed is not None:
        yield f"the first step that it did not do: {missed}"
    limit = ", see timeout_s under [launch]" if run.ended is Ended.AT_LIMIT else ""
    yield f"how it ended: {run.said()}{limit}"
