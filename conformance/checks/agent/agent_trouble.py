"""Agents that are held as Pending, whose codes are refused, and whose fresh tokens are."""

from __future__ import annotations

from conformance.agent import Agents, carried_out, ended, exchanged_with, exchanges, works
from conformance.check import check
from conformance.claims import expect, observe, require
from conformance.run.agent_launch import MOST_AUTHORIZATIONS, Ended
from fakes.gateway.desk import fields
from fakes.gateway.script import Endpoint


@check("AGENT-08")
def pending_agent_stops_and_works_once_approved(agents: Agents) -> None:
    """Sign-in ends on a page and no code comes: the agent ends or asks, and a later run carries on."""
    works(agents.normal())
    install = agents.install()
    install.world.desk.holds = True
    held = ended(install.launch("a run that is held as Pending"))
    require.that(bool(held.visits), "a run that is held as Pending", expected="an authorization", got="none")
    observe(authorizations=len(held.visits), registrations=len(held.calls(Endpoint.REGISTRATION)))
    expect.that(
        held.ended is Ended.BY_ITSELF and held.authorizations() < MOST_AUTHORIZATIONS,
        "authorizations of a run that is held as Pending",
        expected="a few, and then an end",
        got=f"{held.authorizations()}, {held.ended.value}",
        exchange=held.request_of(held.visits[-1]),
    )
    install.world.desk.approve_all()

    carried_out(ended(install.launch("a run after the approval")))


@check("AGENT-10")
def refused_code_leads_to_a_fresh_authorization(agents: Agents) -> None:
    """After `invalid_grant` the agent authorizes anew, and sends neither code nor verifier again."""
    works(agents.normal())
    install = agents.install()
    install.world.desk.refusals = 1
    run = ended(install.launch("a run whose first code is refused"))
    first = next(iter(run.visits), None)
    require.that(
        first is not None and bool(exchanges(run)), "the run", expected="an exchange of a code", got="none"
    )
    for code in (code for visit in run.visits for code in visit.codes()):
        sent = exchanged_with(run, code)
        expect.that(
            len(sent) <= 1,
            "a code that was answered with invalid_grant",
            expected="that it is not sent again",
            got=f"sent {len(sent)} times",
            exchange=sent[-1].exchange() if sent else None,
        )
    given = [fields(each.call).get("code_verifier") for each in exchanges(run)]
    verifiers = [verifier for verifier in given if verifier]
    expect.that(
        len(set(verifiers)) == len(verifiers),
        "verifiers of exchanges after one another",
        expected="a fresh one each time",
        got=f"{len(set(verifiers))} for {len(verifiers)} exchanges",
    )
    carried_out(run)


@check("AGENT-15")
def service_that_refuses_fresh_tokens_ends_in_an_error(agents: Agents) -> None:
    """However often the user authorizes, the service answers with the challenge: the agent gives up."""
    works(agents.normal())
    install = agents.install()
    install.world.service.refuses_all = True
    run = ended(install.launch("a run whose tokens are all refused"))
    refused = [
        each for each in run.calls(Endpoint.OPERATION) if (each.call.header("authorization") or "") != ""
    ]
    require.that(bool(refused), "the run", expected="a call with a fresh token", got="none")
    observe(authorizations=run.authorizations(), calls=len(refused), exit_code=run.exit_code)
    expect.that(
        run.ended is Ended.BY_ITSELF and run.authorizations() < MOST_AUTHORIZATIONS,
        "authorizations until the agent gives up",
        expected=f"fewer than {MOST_AUTHORIZATIONS}",
        got=f"{run.authorizations()} with {len(refused)} calls refused, {run.ended.value}",
        exchange=run.last(),
    )
    expect.that(
        run.exit_code != 0,
        "the end of a run whose tokens are all refused",
        expected="an error: an exit code that is not 0",
        got=run.said(),
        exchange=run.last(),
    )
