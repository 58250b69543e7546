"""What an install keeps between runs, and how it replaces an expired token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from gateproof.conformance.checks.agent._interrupted_runs import (
    ASKED_TO_END,
    INTERRUPTED,
    interrupted,
    interrupted_at_sign_in,
    not_cut_off,
    not_killed,
)
from gateproof.conformance.checks.agent._mcp_clients import is_mcp
from gateproof.conformance.checks.agent._shared_runs import (
    NO_JSON_FOR_TOKENS,
    NO_TOKEN,
    ORDERS_ARE_NONE,
    SERVICE_FAILS_LATE,
    SERVICE_FORBIDS,
    SERVICE_HANGS_UP,
    TOKEN_ENDPOINT_FAILS,
    TOKEN_ENDPOINT_HANGS_UP,
    TOKENS_BREAK_OFF,
    Expiry,
    all_tokens_refused,
    fault_sequence,
    forbidden_by_scope,
    pending_runs,
    recovered,
    refresh_runs,
    refused_code_runs,
    renewed_by_the_clock,
)
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Install,
    end_tokens,
    expect_done,
    require_all_in_time,
    require_done,
    require_ended,
    runs_in_time,
)
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.fakes.gateway.script import Answer, Endpoint
from gateproof.reports.verdicts import many

# Faults in a first run that occur after the registration.
FAULTY = (
    TOKEN_ENDPOINT_FAILS,
    NO_JSON_FOR_TOKENS,
    TOKEN_ENDPOINT_HANGS_UP,
    TOKENS_BREAK_OFF,
    NO_TOKEN,
    SERVICE_FAILS_LATE,
    SERVICE_FORBIDS,
    SERVICE_HANGS_UP,
    ORDERS_ARE_NONE,
)


def _with_fault(agents: Agents, case: str) -> Sequence[Run]:
    return recovered(agents, case).launched


# An agent that is refused repeatedly may consider its client broken, so one refused code must be enough.
TROUBLES: Mapping[str, Callable[[Agents], Sequence[Run]]] = {
    **{case: partial(_with_fault, case=case) for case in FAULTY},
    "no code came": lambda agents: pending_runs(agents).launched,
    "a code was refused": lambda agents: refused_code_runs(agents).runs[:1],
    "a fresh token was refused": lambda agents: all_tokens_refused(agents).launched,
    "a scope is said to be missing": lambda agents: forbidden_by_scope(agents).launched,
    "something failed once the token had expired": lambda agents: fault_sequence(agents).launched,
}

# Unknown members of a document are to be ignored (RFC 8414 section 3.2, RFC 9728 section 3.2).
_MORE = {"gateproof_revision": 2}


def _grown_discovery(install: Install) -> None:
    install.world.gateway_endpoints.extra_members = {**install.world.gateway_endpoints.extra_members, **_MORE}


def _grown_metadata(install: Install) -> None:
    install.world.service.script.always(Endpoint.METADATA, Answer(members=_MORE))


GROWN: Mapping[str, Callable[[Install], None]] = {
    "discovery document": _grown_discovery,
    "metadata": _grown_metadata,
}
INTERRUPTIONS: Mapping[str, Callable[[Agents], Install]] = {
    INTERRUPTED: interrupted_at_sign_in,
    ASKED_TO_END: interrupted,
}


@check("AGENT-11")
def one_install_registers_once(agents: Agents) -> None:
    """Every later run uses the client of the first run, with or without a new authorization."""
    first = require_done(agents.normal())
    _registers(first, 1)
    for number in (2, 3, 4):
        run = require_ended(agents.story(number))
        _registers(run, 0)
        expect_done(run)
        foreign = [visit for visit in run.visits if visit.value("client_id") not in _clients(first)]
        expect.that(
            not foreign,
            f"client_id of an authorization in run {number}",
            expected="the one that was registered in run 1",
            got="another one",
            exchange=run.request_of(foreign[0]) if foreign else None,
        )


@check("AGENT-11", needs=["faults"], cases=tuple(TROUBLES))
def trouble_makes_no_new_client(agents: Agents, case: str) -> None:
    """A failure after the registration causes no new registration, in that run or the next."""
    require_done(agents.normal())
    played = TROUBLES[case](agents)
    require_all_in_time(played[:1])
    not_killed(played[0])
    runs = runs_in_time(played)
    calls = [each for run in runs for each in run.calls(Endpoint.REGISTRATION)]
    require.that(bool(calls), runs[0].what, expected="a registration", got="none")
    later = runs[1].what if len(runs) == 2 else many(len(runs) - 1, "later run")
    if len(calls) > 1 and len(runs[0].calls(Endpoint.REGISTRATION)) == 1:
        not_cut_off(runs[0])
    expect.that(
        len(calls) == 1,
        f"registrations of {runs[0].what} and of {later}",
        expected="1",
        got=str(len(calls)),
        exchange=calls[-1].exchange(),
    )
    require_all_in_time(played)


@check("AGENT-11", cases=GROWN)
def grown_document_makes_no_new_client(agents: Agents, case: Callable[[Install], None]) -> None:
    """A later run reuses the client although a document has an unknown member that it did not have before.

    Left out if the agent does not read that document again.
    """
    require_done(agents.normal())
    install = agents.install()
    require_done(install.launch("a run that gets a token"))
    end_tokens(install.world)
    case(install)
    run = require_ended(install.launch("a run in which a document has one more member"))
    endpoint = Endpoint.DISCOVERY if case is _grown_discovery else Endpoint.METADATA
    if not run.calls(endpoint):
        raise LeftOut("the agent does not read that document again")

    _registers(run, 0)
    expect_done(run)


@check("AGENT-11", needs=["faults"], cases=INTERRUPTIONS)
def interruption_loses_no_client(agents: Agents, case: Callable[[Agents], Install]) -> None:
    """If a signal ends the agent at the sign-in or during a call, the next run does not register again.

    The client was used in an earlier run. So it was stored by then, whether the agent handles the signal or
    is ended by it.
    """
    require_done(agents.normal())
    first, run, after = case(agents).runs
    require_done(first)
    require_all_in_time([run])
    require.that(
        run.ended is Ended.ASKED_TO,
        run.what,
        expected="an agent that waits for its user or for the orders",
        got=run.said(),
        exchange=run.last(),
    )
    not_killed(run)
    observe(exit_code=run.exit_code)
    for each in (run, require_ended(after)):
        _registers(each, 0)


@check("AGENT-09")
def run_after_the_end_of_tokens_works(agents: Agents) -> None:
    """If a token from an earlier run gets the challenge, the agent gets another one and works.

    The check repeats this with the next token: an install is used for longer than any of its tokens is valid.
    """
    require_done(agents.normal())
    require_done(agents.story(2))
    for number in (3, 4):
        run = require_ended(agents.story(number))
        observe(
            presented=any(
                each.call.header("authorization") is not None and each.call.status == 401
                for each in run.calls(Endpoint.OPERATION)
            )
        )
        expect_done(run)


@check("AGENT-09")
def token_is_replaced_whatever_is_said_of_it(agents: Agents) -> None:
    """The agent replaces an expired token although the challenge contains no `error`.

    If the agent refreshed the first token, it needs the new refresh token for the next one.
    """
    require_done(agents.normal())
    first, *later = refresh_runs(agents).runs
    require_done(first)

    for run in later:
        expect_done(require_ended(run))


@check("AGENT-09")
def token_that_expires_between_two_calls_is_replaced(agents: Agents) -> None:
    """An agent that makes several calls replaces a token that expires between two of them."""
    if not is_mcp(require_done(agents.normal())):
        raise LeftOut("the agent makes one call with its token, so no token expires between two")
    install = agents.install()
    require_done(install.launch("a run that gets a token"))
    install.world.service.refuses_next = 1
    run = require_ended(install.launch("a run in which that token expires between two calls"))
    require.that(
        install.world.service.refuses_next == 0, run.what, expected="a tool call with a token", got="none"
    )
    gave_up = run.ended is Ended.BY_ITSELF and run.exit_code != 0
    if gave_up and _got_a_token_before_it_was_refused(run):
        raise LeftOut("the agent got a fresh token before its calls, and stops when that one is refused")

    expect_done(run)


@check("AGENT-09")
def token_that_expires_by_the_clock_is_replaced(agents: Agents) -> None:
    """An agent whose token has expired by its own clock replaces it and works.

    The first time the token can still be refreshed. The second time the user has to authorize again, and the
    service refuses the expired token. An agent may treat a token with a short lifetime as expired at once.
    """
    require_done(agents.normal())
    install = renewed_by_the_clock(agents)
    usable(install.runs[0])
    expect_done(require_ended(install.runs[1]))

    again, expiry = agents.install(), Expiry(by_the_clock=True)
    expiry.begin(again.world.gateway_endpoints)
    gets_tokens(again, expiry, "a run that gets a token for a few seconds")
    expiry.end_access_tokens(again.world.gateway_endpoints)
    end_tokens(again.world)
    expect_done(
        require_ended(again.launch("a run after all tokens have expired, the access token by the clock"))
    )


def gets_tokens(install: Install, expiry: Expiry, what: str) -> None:
    """The first run; LeftOut if the agent does not use a token that soon expires by the clock."""
    run = install.launch(what)
    if expiry.by_the_clock:
        usable(run)
    else:
        require_done(run)


def usable(run: Run) -> None:
    """Raises LeftOut if the agent did not use its token: it may need one that is valid for longer."""
    require_all_in_time([run])
    if not run.done:
        raise LeftOut("the agent does not use a token that is valid for a few seconds")


def _got_a_token_before_it_was_refused(run: Run) -> bool:
    """True if the token was not expired: an agent may stop when the service refuses a fresh token."""
    calls = run.calls(Endpoint.TOKEN, Endpoint.OPERATION)
    refused_at = next(
        place
        for place, each in enumerate(calls)
        if each.call.status == 401 and each.call.header("authorization") is not None
    )
    return any(each.call.endpoint is Endpoint.TOKEN for each in calls[:refused_at])


def _registers(run: Run, times: int) -> None:
    """Expects this number of registrations; a failure shows the first extra one."""
    calls = run.calls(Endpoint.REGISTRATION)
    expect.that(
        len(calls) == times,
        f"registrations of {run.what}",
        expected=str(times),
        got=str(len(calls)),
        exchange=calls[times].exchange() if len(calls) > times else run.last(),
    )


def _clients(run: Run) -> set[str | None]:
    return {visit.value("client_id") for visit in run.visits}
