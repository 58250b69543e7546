"""What an agent tries once something was refused or has failed: nothing that it must not do anyway."""

from __future__ import annotations

from conformance.agent import Agents, Install, all_in_time, exchanges, in_time, works
from conformance.check import check
from conformance.checks.agent._messages import (
    has_credentials_in_its_body,
    is_a_form,
    names_https_addresses,
    names_its_method,
    names_no_scope,
    proves_its_code,
    repeats_its_redirect_uri,
)
from conformance.checks.agent._scenes import (
    CLIENT_REJECTED,
    NO_CLIENT,
    NO_JSON_FOR_TOKENS,
    NO_TOKEN,
    REGISTRATION_REFUSED,
    TOKEN_ENDPOINT_FAILS,
    recovered,
)
from conformance.claims import require
from conformance.run.agent_launch import Run
from fakes.gateway.script import Endpoint


@check("AGENT-02", needs=["faults"], cases=(REGISTRATION_REFUSED, NO_CLIENT, CLIENT_REJECTED))
def registration_after_a_failure_is_like_any(agents: Agents, case: str) -> None:
    """Whether it registers again is its own affair: what it registers has to be allowed then, too."""
    install, runs = _failed(agents, case)
    calls = [each for run in runs for each in run.calls(Endpoint.REGISTRATION)]
    require.that(bool(calls), runs[0].what, expected="a registration", got="none")
    names_https_addresses(calls)
    names_its_method(calls)
    names_no_scope(calls)
    all_in_time(install.runs)


@check(
    "AGENT-06",
    needs=["faults"],
    cases=(TOKEN_ENDPOINT_FAILS, NO_JSON_FOR_TOKENS, NO_TOKEN, CLIENT_REJECTED),
)
def exchange_after_a_failure_is_like_any(agents: Agents, case: str) -> None:
    """Whether it makes another exchange is its own affair: there is one way to make it."""
    install, runs = _failed(agents, case)
    made = [each for run in runs for each in exchanges(run)]
    require.that(bool(made), runs[0].what, expected="an exchange of a code", got="none")
    visits = [visit for run in runs for visit in run.visits]
    is_a_form(made)
    has_credentials_in_its_body(made, install.world.desk.clients.values())
    repeats_its_redirect_uri(made, visits)
    proves_its_code(made, visits)
    all_in_time(install.runs)


def _failed(agents: Agents, case: str) -> tuple[Install, list[Run]]:
    """An install in whose first run this fails, and those of its runs that came to an end."""
    works(agents.normal())
    install = recovered(agents, case)
    all_in_time(install.runs[:1])
    return install, in_time(install.runs)
