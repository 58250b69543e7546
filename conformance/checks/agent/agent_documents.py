"""The agent's requests when documents list less than usual, or in another order.

The specification shows none of these lists. It shows what an agent registers and requests, whatever they
contain.
"""

from __future__ import annotations

from collections.abc import Callable

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
from gateproof.conformance.checks.agent._shared_runs import long_list_runs, short_list_runs
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Install,
    exchanges,
    require_all_in_time,
    require_done,
)
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe
from gateproof.fakes.gateway.script import Endpoint


@check("AGENT-02")
def registration_by_a_short_document_is_like_any(agents: Agents) -> None:
    """If no method is listed, the agent registers client_secret_post, not RFC 8414's default."""
    _, run = _documented_run(agents)
    calls = run.calls(Endpoint.REGISTRATION)
    _sent(bool(calls), "registration")
    names_https_addresses(calls)
    names_its_method(calls)
    names_no_scope(calls)


@check("AGENT-03")
def authorization_by_a_short_document_is_like_any(agents: Agents) -> None:
    """The agent requests `openid`, a scope of the Resource and S256, even if they are not listed."""
    install, run = _documented_run(agents)
    found = authorizations([run])
    _sent(bool(found), "authorization")
    asks_for_everything(found, clients_of(install))
    asks_for_scopes(found)
    writes_spaces_as_percent_20(found)


@check("AGENT-06")
def exchange_by_a_short_document_is_like_any(agents: Agents) -> None:
    """The agent authenticates in the body, even if no method is listed."""
    install, run = _documented_run(agents)
    made, found = exchanges(run), authorizations([run])
    _sent(bool(made), "exchange")
    is_a_form(made)
    has_credentials_in_its_body(made, clients_of(install))
    repeats_its_redirect_uri(made, found)
    proves_its_code(made, found)


@check("AGENT-02")
def registration_goes_by_no_order_of_methods(agents: Agents) -> None:
    """If the gateway lists the method of Proxy clients first, the agent registers client_secret_post."""
    _, run = _played_run(agents, long_list_runs)
    calls = run.calls(Endpoint.REGISTRATION)
    _sent(bool(calls), "registration")
    names_its_method(calls)
    names_no_scope(calls)


@check("AGENT-03")
def authorization_asks_for_openid_where_it_is_not_listed(agents: Agents) -> None:
    """The agent requests `openid` although metadata and challenge name only the Resource's scopes.

    It uses S256 although the gateway lists another method first.
    """
    install, run = _played_run(agents, long_list_runs)
    found = authorizations([run])
    _sent(bool(found), "authorization")
    asks_for_everything(found, clients_of(install))
    asks_for_scopes(found)
    writes_spaces_as_percent_20(found)


@check("AGENT-06")
def exchange_goes_by_no_order_of_methods(agents: Agents) -> None:
    """The agent authenticates in the body, even if another method is listed first."""
    install, run = _played_run(agents, long_list_runs)
    made = exchanges(run)
    _sent(bool(made), "exchange")
    has_credentials_in_its_body(made, clients_of(install))


def _documented_run(agents: Agents) -> tuple[Install, Run]:
    return _played_run(agents, short_list_runs)


def _played_run(agents: Agents, scene: Callable[[Agents], Install]) -> tuple[Install, Run]:
    require_done(agents.normal())
    install = scene(agents)
    (run,) = install.runs
    require_all_in_time([run])
    observe(carried_out=run.done)
    return install, run


def _sent(there: bool, what: str) -> None:
    """Raises LeftOut if nothing was sent: an agent may require lists that are not in the specification."""
    if not there:
        raise LeftOut(f"the agent depends on what the documents list, and makes no {what} here")
