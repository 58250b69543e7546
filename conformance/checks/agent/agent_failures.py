"""The agent's requests after a refusal or a fault: they follow the same rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from gateproof.conformance.checks.agent._messages import (
    asks_for_everything,
    asks_for_scopes,
    authorizations,
    clients_of,
    has_credentials_in_its_body,
    is_a_form,
    names_https_addresses,
    names_its_method,
    names_no_scope,
    proves_its_code,
    repeats_its_redirect_uri,
    writes_spaces_as_percent_20,
)
from gateproof.conformance.checks.agent._shared_runs import (
    CLIENT_REJECTED,
    NO_CLIENT,
    NO_JSON_FOR_TOKENS,
    NO_TOKEN,
    REFUSED,
    REGISTRATION_REFUSED,
    TOKEN_ENDPOINT_FAILS,
    all_tokens_refused,
    forbidden_by_scope,
    recovered,
)
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Install,
    exchanges,
    require_all_in_time,
    require_done,
    runs_in_time,
)
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.fakes.gateway.script import Endpoint

WITHOUT_TOKENS = (TOKEN_ENDPOINT_FAILS, NO_JSON_FOR_TOKENS, NO_TOKEN, CLIENT_REJECTED)
# Faults that make an authorization and its exchange fail.
IN_VAIN: Mapping[str, Callable[[Agents], Install]] = {
    **{case: partial(recovered, case=case) for case in WITHOUT_TOKENS},
    REFUSED: all_tokens_refused,
    # The service names only the Resource's scopes; the authorization has to request the same as usual.
    "a scope is said to be missing": forbidden_by_scope,
}


@check("AGENT-02", needs=["faults"], cases=(REGISTRATION_REFUSED, NO_CLIENT, CLIENT_REJECTED))
def registration_after_a_failure_is_like_any(agents: Agents, case: str) -> None:
    """After a fault, a new registration, if there is one, follows the same rules."""
    require_done(agents.normal())
    install = recovered(agents, case)
    runs = _ended(install)
    calls = [each for run in runs for each in run.calls(Endpoint.REGISTRATION)]
    require.that(bool(calls), runs[0].what, expected="a registration", got="none")
    names_https_addresses(calls)
    names_its_method(calls)
    names_no_scope(calls)
    require_all_in_time(install.runs)


@check("AGENT-03", needs=["faults"], cases=tuple(IN_VAIN))
def authorization_after_a_failure_is_like_any(agents: Agents, case: str) -> None:
    """After a fault, a new authorization, at once or in the next run, follows the same rules."""
    require_done(agents.normal())
    install = IN_VAIN[case](agents)
    runs = _ended(install)
    found = authorizations(runs)
    require.that(bool(found), runs[0].what, expected="an authorization", got="none")
    asks_for_everything(found, clients_of(install))
    asks_for_scopes(found)
    writes_spaces_as_percent_20(found)
    require_all_in_time(install.runs)


@check("AGENT-06", needs=["faults"], cases=tuple(IN_VAIN))
def exchange_after_a_failure_is_like_any(agents: Agents, case: str) -> None:
    """After a fault, a new exchange, if there is one, follows the same rules."""
    require_done(agents.normal())
    install = IN_VAIN[case](agents)
    runs = _ended(install)
    made = [each for run in runs for each in exchanges(run)]
    require.that(bool(made), runs[0].what, expected="an exchange of a code", got="none")
    found = authorizations(runs)
    is_a_form(made)
    has_credentials_in_its_body(made, clients_of(install))
    repeats_its_redirect_uri(made, found)
    proves_its_code(made, found)
    require_all_in_time(install.runs)


def _ended(install: Install) -> list[Run]:
    """The first run, which has to end in time, and the later ones up to the first that reaches its limit."""
    require_all_in_time(install.runs[:1])
    return runs_in_time(install.runs)
