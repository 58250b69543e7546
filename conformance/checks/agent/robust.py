"""What is left of a run that could not do its work: the next one of the same install works."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.agent._scenes import (
    ASKED_TO_END,
    CLIENT_REJECTED,
    FAULTS,
    LATER,
    SERVICE_FORBIDS,
    interrupted,
    not_killed,
    recovered,
    recovered_later,
    unloved,
)
from gateproof.conformance.kit.agent.agent import Agents, all_in_time, carried_out, ended, works
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, observe, require
from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.fakes.gateway.script import Endpoint

# A user whom the service forbids something may be told so again, and whoever's client is rejected may ask its
# operator: these are answers, and no faults.
_PASSING = tuple(case for case in FAULTS if case not in {SERVICE_FORBIDS, CLIENT_REJECTED})
_HOLDS = "the next run of the same install ends with the orders"
_SIGTERM = Fault(
    name=ASKED_TO_END,
    layer=Layer.CLIENT,
    hop=Hop.AGENT_TO_SERVICE,
    does="SIGTERM comes while the agent waits for the orders",
    holds=_HOLDS,
)
_REFUSES_TOKENS = Fault(
    name="the service refuses every token",
    layer=Layer.HTTP,
    hop=Hop.AGENT_TO_SERVICE,
    does="throughout a run of the agent, every token is answered with the challenge",
    holds=_HOLDS,
)
# Where in the scene the run stands that had its tokens refused; the one after it is next to it.
_REFUSED: Mapping[str, int] = {"the first token of the install": 0, "a token that was kept": 2}


@check("ROBUST-02", needs=["faults"], cases=_PASSING)
def run_after_a_fault_works(agents: Agents, case: str) -> None:
    """Something fails throughout a run, and nothing does in the next."""
    works(agents.normal())
    run, after = recovered(agents, case).runs
    all_in_time([run])
    struck = _struck(run, case)
    require.that(struck > 0, run.what, expected="an agent that comes by", got="none that does")
    count_fault(_fault(case), struck)
    observe(exit_code=run.exit_code)

    carried_out(ended(after))


@check("ROBUST-02", needs=["faults"], cases=LATER)
def later_run_after_a_fault_works(agents: Agents, case: str) -> None:
    """What fails when an expired token is to be replaced costs that run, and not what the install has kept.

    Who keeps documents does not ask for them again. Where one fault was not got over, those after it are left
    out.
    """
    works(agents.normal())
    before, run, after = recovered_later(agents, case)
    all_in_time([run])
    if not before.done:
        raise LeftOut("the run before did not work either")
    struck = _struck(run, case)
    if not struck:
        raise LeftOut("the agent did not come by where it fails")
    count_fault(_fault(case), struck)
    observe(exit_code=run.exit_code)

    carried_out(ended(after))


@check("ROBUST-02", needs=["faults"], cases=tuple(_REFUSED))
def run_after_refused_tokens_works(agents: Agents, case: str) -> None:
    """An agent gives up on a service that refuses every token, and the next run tries it again.

    One that does not give up by itself is another rule's; it is stopped, and may leave behind what it likes.
    """
    works(agents.normal())
    runs, place = unloved(agents).runs, _REFUSED[case]
    run, after = runs[place], runs[place + 1]
    all_in_time([run])
    refused = [
        each for each in run.calls(Endpoint.OPERATION) if (each.call.header("authorization") or "") != ""
    ]
    require.that(
        bool(refused) and run.ended is Ended.BY_ITSELF,
        run.what,
        expected="calls with a token, and then an end",
        got=f"{len(refused)} calls with a token, and {run.said()}",
        exchange=run.last(),
    )
    count_fault(_REFUSES_TOKENS, len(refused))
    observe(exit_code=run.exit_code)

    carried_out(ended(after))


@check("ROBUST-02", needs=["faults"])
def run_after_one_that_was_asked_to_end_works(agents: Agents) -> None:
    """What a run has begun that was asked to end does not stand in the way of the next."""
    works(agents.normal())
    run, after = interrupted(agents).runs
    all_in_time([run])
    require.that(
        run.ended is Ended.ASKED_TO,
        run.what,
        expected="an agent that waits for the orders",
        got=run.said(),
        exchange=run.last(),
    )
    count_fault(_SIGTERM, 1)
    not_killed(run)
    observe(exit_code=run.exit_code)

    carried_out(ended(after))


def _struck(run: Run, case: str) -> int:
    """How often the fault came in the way of the agent."""
    endpoint, answer = FAULTS[case]
    return sum(answer.whose in each.call.text() for each in run.calls(endpoint))


def _fault(case: str) -> Fault:
    to_service = FAULTS[case][0] in {Endpoint.OPERATION, Endpoint.METADATA}
    return Fault(
        name=case,
        layer=Layer.HTTP,
        hop=Hop.AGENT_TO_SERVICE if to_service else Hop.AGENT_TO_GATEWAY,
        does=f"throughout a run of the agent, {case}",
        holds=_HOLDS,
    )
