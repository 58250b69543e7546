"""The run after a failed one: the same install works again."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.agent._interrupted_runs import (
    ASKED_TO_END,
    INTERRUPTED,
    interrupted,
    interrupted_at_sign_in,
    not_killed,
)
from gateproof.conformance.checks.agent._shared_runs import (
    CLIENT_REJECTED,
    DISCOVERY_GONE,
    FAULTS,
    LATER,
    METADATA_GONE,
    SERVICE_FORBIDS,
    all_tokens_refused,
    recovered,
    recovered_later,
)
from gateproof.conformance.kit.agent.agent import (
    Agents,
    expect_done,
    require_all_in_time,
    require_done,
    require_ended,
)
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, observe, require
from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.fakes.gateway.script import Endpoint

# A user may be forbidden again, and a rejected client may need its operator: these are answers, not faults.
_LASTING = {SERVICE_FORBIDS, CLIENT_REJECTED, METADATA_GONE, DISCOVERY_GONE}
_PASSING = tuple(case for case in FAULTS if case not in _LASTING)
_HOLDS = "the next run of the same install ends with the orders"
_SIGTERM = Fault(
    name=ASKED_TO_END,
    layer=Layer.CLIENT,
    hop=Hop.AGENT_TO_SERVICE,
    does="SIGTERM comes while the agent waits for the orders",
    holds=_HOLDS,
)
_SIGINT = Fault(
    name=INTERRUPTED,
    layer=Layer.CLIENT,
    hop=Hop.AGENT_TO_GATEWAY,
    does="SIGINT comes while the agent waits for its user",
    holds=_HOLDS,
)
_REFUSES_TOKENS = Fault(
    name="the service refuses every token",
    layer=Layer.HTTP,
    hop=Hop.AGENT_TO_SERVICE,
    does="throughout a run of the agent, every token is answered with the challenge",
    holds=_HOLDS,
)
# The index of the run whose tokens were refused; the run after it is the next one.
_REFUSED: Mapping[str, int] = {"the first token of the install": 0, "a token that was kept": 2}


@check("ROBUST-02", needs=["faults"], cases=_PASSING)
def run_after_a_fault_works(agents: Agents, case: str) -> None:
    """After a run with a fault, the next run without it gets the orders."""
    require_done(agents.normal())
    run, after = recovered(agents, case).runs
    require_all_in_time([run])
    struck = _fault_count(run, case)
    require.that(struck > 0, run.what, expected="an agent that connects", got="no connection")
    count_fault(_fault(case), struck)
    observe(exit_code=run.exit_code)

    expect_done(require_ended(after))


@check("ROBUST-02", needs=["faults"], cases=LATER)
def later_run_after_a_fault_works(agents: Agents, case: str) -> None:
    """After a fault while an expired token is replaced, the next run of the install gets the orders.

    An agent that caches documents does not fetch them again. If one run does not recover, the later faults
    are left out.
    """
    require_done(agents.normal())
    before, run, after = recovered_later(agents, case)
    require_all_in_time([run])
    if not before.done:
        raise LeftOut("the run before did not work either")
    struck = _fault_count(run, case)
    if not struck:
        raise LeftOut("the agent did not make the request that fails")
    count_fault(_fault(case), struck)
    observe(exit_code=run.exit_code)

    expect_done(require_ended(after))


@check("ROBUST-02", needs=["faults"], cases=tuple(_REFUSED))
def run_after_refused_tokens_works(agents: Agents, case: str) -> None:
    """After a run in which the service refused every token, the next run gets the orders.

    An agent that does not end by itself fails another rule; it is stopped, so its state may be incomplete.
    """
    require_done(agents.normal())
    runs, place = all_tokens_refused(agents).runs, _REFUSED[case]
    run, after = runs[place], runs[place + 1]
    require_all_in_time([run])
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

    expect_done(require_ended(after))


@check("ROBUST-02", needs=["faults"])
def run_after_one_that_was_asked_to_end_works(agents: Agents) -> None:
    """After a run that was asked to end by SIGTERM, the next run gets the orders."""
    require_done(agents.normal())
    first, run, after = interrupted(agents).runs
    require_done(first)
    require_all_in_time([run])
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

    expect_done(require_ended(after))


@check("ROBUST-02", needs=["faults"])
def run_after_an_interruption_works(agents: Agents) -> None:
    """After a run that was interrupted as by Ctrl-C at the sign-in, the next run gets the orders."""
    require_done(agents.normal())
    first, run, after = interrupted_at_sign_in(agents).runs
    require_done(first)
    require_all_in_time([run])
    require.that(
        run.ended is Ended.ASKED_TO,
        run.what,
        expected="an agent that waits for its user",
        got=run.said(),
        exchange=run.last(),
    )
    count_fault(_SIGINT, 1)
    not_killed(run)
    observe(exit_code=run.exit_code)

    expect_done(require_ended(after))


def _fault_count(run: Run, case: str) -> int:
    """How often the agent met the fault."""
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
