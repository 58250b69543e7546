"""Agents that are Pending, whose codes or fresh tokens are refused, or whose client is rejected."""

from __future__ import annotations

from gateproof.conformance.checks.agent._mcp_clients import NO_MCP, is_mcp
from gateproof.conformance.checks.agent._shared_runs import (
    CLIENT_REJECTED,
    FAULTS,
    MOST_WITH_ONE_TOKEN,
    SERVICE_FORBIDS,
    all_tokens_refused,
    forbidden_by_scope,
    forbidden_in_other_words,
    pending_runs,
    recovered,
    refused_calls,
    refused_code_runs,
    tool_calls_refused,
)
from gateproof.conformance.kit.agent.agent import (
    Agents,
    exchanges,
    exchanges_of_code,
    expect_done,
    require_all_in_time,
    require_done,
    require_ended,
    runs_in_time,
    s256,
)
from gateproof.conformance.kit.agent.launch import MOST_AUTHORIZATIONS, Ended, Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.fakes.gateway.agent_endpoints import fields
from gateproof.fakes.gateway.script import Endpoint

# One install has one registration. A few new ones after a rejection are accepted; the launcher stops a run
# with as many as this.
MOST_REGISTRATIONS = MOST_AUTHORIZATIONS


@check("AGENT-08")
def pending_agent_stops_and_works_once_approved(agents: Agents) -> None:
    """A Pending agent ends after a few authorizations; after its approval a later run works.

    The browser either stays on a page, or is redirected with an error and no code.
    """
    require_done(agents.normal())
    *without_code, after = (require_ended(run) for run in pending_runs(agents).runs)
    require.that(bool(without_code[0].visits), without_code[0].what, expected="an authorization", got="none")
    for run in without_code:
        observe(authorizations=len(run.visits), registrations=len(run.calls(Endpoint.REGISTRATION)))
        expect.that(
            run.ended is Ended.BY_ITSELF and run.authorizations() < MOST_AUTHORIZATIONS,
            f"authorizations of {run.what}",
            expected="a few, and then an end",
            got=f"{run.authorizations()}, {run.ended.value}",
            exchange=run.request_of(run.visits[-1]) if run.visits else run.last(),
        )

    expect_done(after)


@check("AGENT-10")
def refused_code_leads_to_a_fresh_authorization(agents: Agents) -> None:
    """After `invalid_grant` the agent authorizes again, and repeats neither the code nor the verifier.

    The number of tries in one run is the agent's choice: after a second refused code it may end with an
    error, and a refused refresh token counts like a code.
    """
    require_done(agents.normal())
    played = refused_code_runs(agents).runs
    runs = runs_in_time(played)
    first = runs[0]
    require.that(
        bool(first.visits and exchanges(first)), "the run", expected="an exchange of a code", got="none"
    )
    for code in dict.fromkeys(code for run in runs for visit in run.visits for code in visit.codes()):
        sent = [each for run in runs for each in exchanges_of_code(run, code)]
        expect.that(
            len(sent) <= 1,
            "a code that was sent before, in whichever run of the install",
            expected="that it is not sent again",
            got=f"sent {len(sent)} times",
            exchange=sent[-1].exchange() if sent else None,
        )
    _fresh_each_time(runs)
    expect_done(first)
    require_all_in_time(played)
    later = runs[1]
    # An agent that makes no exchange in a later run did not replace its expired token, which another rule
    # judges.
    made = exchanges(later)
    refreshes = len(later.calls(Endpoint.TOKEN)) - len(made)
    observe(exchanges_later=len(made), refreshes_later=refreshes)
    if made:
        expect.that(
            len(made) > 1 or refreshes > 0,
            f"exchanges of {later.what}",
            expected="another one after the first was refused",
            got=f"1, and {later.said()}",
            exchange=made[0].exchange(),
        )
        expect_done(runs[-1])


@check("AGENT-15")
def service_that_refuses_fresh_tokens_ends_in_an_error(agents: Agents) -> None:
    """If the service refuses every fresh token, the agent ends with an error after a few tries.

    Calls with one refused token are limited as well. The check uses a run without a token and one with a
    token of an earlier run.
    """
    require_done(agents.normal())
    fresh, _, kept, _ = all_tokens_refused(agents).runs
    _gives_up(require_ended(fresh))
    _gives_up(require_ended(kept))


@check("AGENT-15")
def service_that_forbids_every_token_ends_in_an_error(agents: Agents) -> None:
    """If the service answers every token with 403 and a challenge for scopes, the agent gives up as well.

    The token has these scopes already (RFC 6750 section 3.1), so another authorization does not help. The
    agent may request none, or a few.
    """
    require_done(agents.normal())
    _gives_up(require_ended(forbidden_by_scope(agents).runs[0]))


@check("AGENT-15")
def service_that_forbids_in_other_words_ends_in_an_error(agents: Agents) -> None:
    """If the challenges of the 403 answers differ in their texts, the agent gives up as well.

    Services put the ID of a request there. An agent must not conclude that something has changed.
    """
    require_done(agents.normal())
    _gives_up(require_ended(forbidden_in_other_words(agents).runs[0]))


@check("AGENT-15")
def mcp_service_that_refuses_the_tool_call_alone_ends_in_an_error(agents: Agents) -> None:
    """If an MCP service accepts the token at first, and refuses it for the tool call, the agent gives up."""
    if not is_mcp(require_done(agents.normal())):
        raise LeftOut(NO_MCP)
    _gives_up(require_ended(tool_calls_refused(agents).runs[0]))


@check("AGENT-15", needs=["faults"])
def forbidden_operation_has_an_end(agents: Agents) -> None:
    """If the service answers 403 and says no more, authorizations and calls of the run have an end."""
    require_done(agents.normal())
    _has_an_end(recovered(agents, SERVICE_FORBIDS).runs[0])


@check("AGENT-11", needs=["faults"])
def rejected_client_is_not_replaced_without_end(agents: Agents) -> None:
    """If the token endpoint rejects the client, the agent registers a few times at most in that run.

    It may register none again, or a new client at once. Ten registrations are regarded as without end.
    """
    require_done(agents.normal())
    run = recovered(agents, CLIENT_REJECTED).runs[0]
    require_all_in_time([run])
    calls = run.calls(Endpoint.REGISTRATION)
    rejected = [each for each in run.calls(Endpoint.TOKEN) if each.call.status == 401]
    require.that(
        bool(calls and rejected),
        run.what,
        expected="a registration, and a token request that is rejected",
        got=f"{len(calls)} and {len(rejected)}",
        exchange=run.last(),
    )
    _registers_a_few_times(run, len(rejected))


@check("AGENT-11", needs=["faults"])
def client_rejected_at_a_refresh_is_not_replaced_without_end(agents: Agents) -> None:
    """If the token endpoint rejects the client in a later run, the agent registers a few times at most.

    It may refresh its token, or ask the user to authorize again.
    """
    require_done(agents.normal())
    install = agents.install()
    require_done(install.launch("a run that gets a token"))
    desk = install.world.gateway_endpoints
    desk.end_access_tokens()
    endpoint, rejects = FAULTS[CLIENT_REJECTED]
    desk.script.always(endpoint, rejects)
    run = install.launch("a run in which the token has expired and the client is rejected")
    require_all_in_time([run])
    rejected = [each for each in run.calls(Endpoint.TOKEN) if each.call.status == 401]
    if not rejected:
        raise LeftOut("the agent makes no token request after its token has expired")
    _registers_a_few_times(run, len(rejected))


def _registers_a_few_times(run: Run, rejections: int) -> None:
    calls = run.calls(Endpoint.REGISTRATION)
    observe(registrations=len(calls), rejections=rejections)
    expect.that(
        len(calls) < MOST_REGISTRATIONS,
        f"registrations of {run.what}",
        expected=f"fewer than {MOST_REGISTRATIONS}: a few new ones after a rejection are accepted",
        got=f"{len(calls)}, {run.ended.value}",
        exchange=calls[-1].exchange() if calls else run.last(),
    )
    if run.ended is Ended.STOPPED:
        raise LeftOut(f"{run.what} was stopped after too many other requests")


def _gives_up(run: Run) -> None:
    """Expects an error exit of the run itself, after a limited number of authorizations and calls."""
    _has_an_end(run)
    expect.that(
        run.exit_code != 0,
        f"the end of {run.what}",
        expected="an error: an exit code that is not 0",
        got=run.said(),
        exchange=run.last(),
    )


def _has_an_end(run: Run) -> None:
    """Expects a limited number of authorizations, and of calls with one token."""
    calls = refused_calls(run.calls(Endpoint.OPERATION))
    require.that(bool(calls), run.what, expected="a call with a token", got="none")
    most = max(calls.values())
    observe(
        authorizations=run.authorizations(),
        calls=calls.total(),
        calls_with_one_token=most,
        exit_code=run.exit_code,
    )
    expect.that(
        most < MOST_WITH_ONE_TOKEN,
        f"calls of {run.what} with one of the tokens",
        expected=f"fewer than {MOST_WITH_ONE_TOKEN}: the service has refused it",
        got=f"{most}",
        exchange=run.last(),
    )
    require_ended(run)
    expect.that(
        run.ended is Ended.BY_ITSELF and run.authorizations() < MOST_AUTHORIZATIONS,
        f"authorizations of {run.what}, until the agent gives up",
        expected=f"fewer than {MOST_AUTHORIZATIONS}",
        got=f"{run.authorizations()} with {calls.total()} calls refused, {run.ended.value}",
        exchange=run.last(),
    )


def _fresh_each_time(runs: list[Run]) -> None:
    """Expects a new verifier in every exchange; if the first one proves its code, the later ones do, too."""
    visits = [visit for run in runs for visit in run.visits]
    challenges = {code: visit.value("code_challenge") for visit in visits for code in visit.codes()}
    made = [each for run in runs for each in exchanges(run)]
    verifiers = [fields(each.call).get("code_verifier", "") for each in made]
    proofs = [
        bool(verifier) and s256(verifier) == challenges.get(fields(each.call).get("code", ""))
        for each, verifier in zip(made, verifiers, strict=True)
    ]
    for place, (each, verifier) in enumerate(zip(made, verifiers, strict=True)):
        expect.that(
            not verifier or verifier not in verifiers[:place],
            "verifiers of exchanges after one another",
            expected="a fresh one each time",
            got="the one of an exchange before it",
            exchange=each.exchange(),
        )
        expect.that(
            proofs[place] or not proofs[0],
            "the verifier of an exchange after one that was refused",
            expected="the one whose S256 is the code_challenge of its authorization",
            got=f"{len(verifier)} characters that are not it" if verifier else "nothing",
            exchange=each.exchange(),
        )
