"""The grants that an agent registers for, and the form and authentication of its registration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateproof.conformance.checks.agent._shared_runs import (
    CLIENT_REJECTED,
    NO_CLIENT,
    REGISTRATION_REFUSED,
    recovered,
)
from gateproof.conformance.kit.agent.agent import (
    Agents,
    end_tokens,
    require_all_in_time,
    require_done,
    require_ended,
    runs_in_time,
)
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import SECOND, ReceivedRequest
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.fakes.gateway.script import Answer, Endpoint

GRANT = "authorization_code"
FORBIDDEN_GRANTS = frozenset({"implicit", "password", "client_credentials"})
FORBIDDEN_RESPONSES = frozenset({"token", "id_token"})
_KNOWN_GRANTS = {GRANT, "refresh_token", *FORBIDDEN_GRANTS}
# Proxy clients use client_credentials at the same token endpoint, so a gateway may list it.
_ALL_GRANTS = [GRANT, "refresh_token", "client_credentials", "implicit", "password"]
_ALL_RESPONSES = ["code", "token", "id_token", "code id_token", "code token"]
# If no grants are listed, the default of RFC 8414 is authorization_code and implicit.
DOCUMENTS: Mapping[str, Mapping[str, Any]] = {
    "lists every grant": {"grant_types_supported": _ALL_GRANTS, "response_types_supported": _ALL_RESPONSES},
    "lists no grant": {"grant_types_supported": None},
}


@check("AGENT-17")
def registration_names_the_code_grant_alone(agents: Agents) -> None:
    """The normal runs register the code grant and no forbidden one, without an Authorization header."""
    calls = [each for run in agents.runs() for each in run.calls(Endpoint.REGISTRATION)]
    _registered(calls, "the normal run")

    _are_right(calls)


@check("AGENT-17", cases=tuple(DOCUMENTS))
def registration_goes_by_no_list_of_the_document(agents: Agents, case: str) -> None:
    """Whatever grants the gateway's document lists, the agent registers the grant of agents."""
    require_done(agents.normal())
    install = agents.install()
    install.world.gateway_endpoints.script.always(Endpoint.DISCOVERY, Answer(members=DOCUMENTS[case]))
    run = require_ended(install.launch(f"a run with a document that {case}"))
    calls = run.calls(Endpoint.REGISTRATION)
    if not calls:
        raise LeftOut("the agent goes by what the document lists, and makes no registration here")

    _are_right(calls)


@check("AGENT-17", needs=["faults"], cases=(REGISTRATION_REFUSED, NO_CLIENT, CLIENT_REJECTED))
def registration_after_a_failure_names_the_same_grants(agents: Agents, case: str) -> None:
    """After a failed registration, the agent registers no other grant and sends no Authorization header."""
    require_done(agents.normal())
    install = recovered(agents, case)
    require_all_in_time(install.runs[:1])
    runs = runs_in_time(install.runs)
    calls = [each for run in runs for each in run.calls(Endpoint.REGISTRATION)]
    require.that(bool(calls), runs[0].what, expected="a registration", got="none")

    _are_right(calls)
    require_all_in_time(install.runs)


@check("AGENT-17")
def registration_at_another_gateway_carries_no_token(agents: Agents) -> None:
    """An install with a token of one gateway registers at a second one without an Authorization header."""
    require_done(agents.normal())
    install = agents.install()
    second = install.world.add_second_gateway()
    require_done(install.launch("a run that gets a token at the first gateway"))
    end_tokens(install.world)
    install.world.service.servers[:] = [second.site.authorization_server]
    run: Run = require_ended(install.launch("a run after the service has moved to another gateway"))
    calls = run.calls(Endpoint.REGISTRATION, party=SECOND)
    if not calls:
        raise LeftOut("the agent does not register at the gateway to which the service has moved")

    _are_right(calls)


def _registered(calls: list[ReceivedRequest], what: str) -> None:
    accepted = [each for each in calls if each.call.status == 201]
    require.that(bool(accepted), what, expected="a registration that brings a client", got="none")


def _are_right(calls: Iterable[ReceivedRequest]) -> None:
    for each in calls:
        record = each.call.json()
        require.that(
            isinstance(record, dict),
            "the body of the registration",
            expected="a JSON object",
            got="something else",
            exchange=each.exchange(),
        )
        _are_lists(each, record)
        _names_the_code_grant(each, record)
        _names_no_token(each, record)
        _is_not_authenticated(each)


def _are_lists(each: ReceivedRequest, record: Mapping[str, Any]) -> None:
    """Expects that grant_types and response_types, if they are sent, are lists of strings."""
    for name in ("grant_types", "response_types"):
        value = record.get(name)
        expect.that(
            value is None or (isinstance(value, list) and all(isinstance(member, str) for member in value)),
            f"{name} of the registration",
            expected="a list of strings",
            got="a list with something else in it" if isinstance(value, list) else _kind(value),
            exchange=each.exchange(),
        )


def _kind(value: Any) -> str:
    return "a string" if isinstance(value, str) else "something else"


def _names_the_code_grant(each: ReceivedRequest, record: Mapping[str, Any]) -> None:
    """Expects the code grant and no forbidden one; without the member, the gateway chooses."""
    if record.get("grant_types") is None:
        observe(grant_types="left out")
        return
    grants = _words(record["grant_types"])
    observe(other_grants=", ".join(sorted(set(grants) - _KNOWN_GRANTS)) or "none")
    wrong = [grant for grant in grants if grant.lower() in FORBIDDEN_GRANTS]
    expect.that(
        GRANT in grants and not wrong,
        "grant_types of the registration",
        expected=f"{GRANT}, and none of {', '.join(sorted(FORBIDDEN_GRANTS))}",
        got=", ".join(grants) or "no grant",
        exchange=each.exchange(),
    )


def _names_no_token(each: ReceivedRequest, record: Mapping[str, Any]) -> None:
    """Expects no response type with a token, not even combined with others, as in `code id_token`."""
    if record.get("response_types") is None:
        observe(response_types="left out")
        return
    words = [word for kind in _listed(record["response_types"]) for word in kind.split()]
    expect.that(
        FORBIDDEN_RESPONSES.isdisjoint(words),
        "response_types of the registration",
        expected="none with token or id_token in it",
        got=", ".join(_listed(record["response_types"])),
        exchange=each.exchange(),
    )


def _is_not_authenticated(each: ReceivedRequest) -> None:
    headers = each.call.headers_named("authorization")
    expect.that(
        not headers,
        "the registration's headers",
        expected="no Authorization header",
        got=", ".join(header.partition(" ")[0] or "an empty one" for header in headers),
        exchange=each.exchange(),
    )


def _listed(value: Any) -> list[str]:
    return [str(member) for member in value]


def _words(value: Any) -> list[str]:
    return [word for member in _listed(value) for word in member.replace(",", " ").split()]
