"""What an agent sends is the same whatever documents list: more than is for agents, or nothing."""

from __future__ import annotations

from conformance.agent import Agents, Install, all_in_time, exchanges, works
from conformance.check import check
from conformance.checks.agent._messages import (
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
from conformance.checks.agent._scenes import DOCUMENTS, documented
from conformance.claims import LeftOut, observe
from conformance.run.agent_launch import Run
from fakes.gateway.script import Endpoint


@check("AGENT-02", cases=tuple(DOCUMENTS))
def registration_by_other_documents_is_like_any(agents: Agents, case: str) -> None:
    """The method of Proxy clients may be listed before that of agents, or none: agents register theirs."""
    _, run = _played(agents, case)
    calls = run.calls(Endpoint.REGISTRATION)
    _sent(bool(calls), "registration")
    names_https_addresses(calls)
    names_its_method(calls)
    names_no_scope(calls)


@check("AGENT-03", cases=tuple(DOCUMENTS))
def authorization_by_other_documents_is_like_any(agents: Agents, case: str) -> None:
    """`openid`, a scope of the Resource and S256 are asked for whether a document lists them or not."""
    install, run = _played(agents, case)
    found = authorizations([run])
    _sent(bool(found), "authorization")
    asks_for_everything(found, clients_of(install))
    asks_for_scopes(found)
    writes_spaces_as_percent_20(found)


@check("AGENT-06", cases=tuple(DOCUMENTS))
def exchange_by_other_documents_is_like_any(agents: Agents, case: str) -> None:
    """Agents authenticate in the body, whichever method stands first, or is meant where none does."""
    install, run = _played(agents, case)
    made, found = exchanges(run), authorizations([run])
    _sent(bool(made), "exchange")
    is_a_form(made)
    has_credentials_in_its_body(made, clients_of(install))
    repeats_its_redirect_uri(made, found)
    proves_its_code(made, found)


def _played(agents: Agents, case: str) -> tuple[Install, Run]:
    works(agents.normal())
    install = documented(agents, case)
    (run,) = install.runs
    all_in_time([run])
    observe(carried_out=run.done)
    return install, run


def _sent(there: bool, what: str) -> None:
    """These lists are shown nowhere in the specification: an agent may want to have them."""
    if not there:
        raise LeftOut(f"the agent goes by what documents list, and makes no {what} here")
