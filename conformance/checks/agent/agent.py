"""The agent's flow from the challenge to the orders, without faults.

Most of these checks use the same runs: the first one, and those in which the agent repeats the flow.
Authorizations are also examined in runs after a refusal and an approval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.agent._messages import (
    Asked,
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
from gateproof.conformance.checks.agent._shared_runs import all_authorizing_runs
from gateproof.conformance.kit.agent.agent import (
    Agents,
    exchanges,
    expect_done,
    leave_out_with_unused_metadata,
    leave_out_without_metadata_elsewhere,
    require_done,
    require_ended,
)
from gateproof.conformance.kit.agent.world import AgentWorld, ReceivedRequest
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.fakes.gateway.application import asks_for_gzip
from gateproof.fakes.gateway.script import Answer, Endpoint
from gateproof.fakes.orders_service import AMONG_OTHERS, UNQUOTED

# How the pointer stands in the challenge; the specification tells agents nothing about a second challenge.
WITHOUT_QUOTES, WITH_A_QUERY, QUERY = "without quotes", "a URL with a query", "?of=orders&x=1"
CHALLENGES: Mapping[str, str] = {
    WITHOUT_QUOTES: UNQUOTED,
    "behind other parameters": AMONG_OTHERS,
    "behind a text with commas": 'Bearer realm="orders, a=b, more", resource_metadata="{pointer}"',
    WITH_A_QUERY: f'Bearer resource_metadata="{{pointer}}{QUERY}"',
}
METADATA_ELSEWHERE = "metadata elsewhere"
# Unknown or unnecessary members, in addition to the required ones.
_MORE = {"notes": {"of": ["the operator", None, 7]}, "service_documentation": "https://docs.example/agents"}
_OTHERWISE = {"content-type": "application/json; charset=utf-8"}


def _more_in_the_redirect(world: AgentWorld) -> None:
    """A redirect contains more parameters than code and state."""
    world.gateway_endpoints.extra_parameters = {"iss": world.gateway_endpoints.issuer, "x": "a b"}


def _reserved_characters(world: AgentWorld) -> None:
    """Client ID and code contain reserved characters: any printable one is allowed (RFC 6749 appendix A)."""
    world.gateway_endpoints.odd_values = True


def _registrations_by_their_label(world: AgentWorld) -> None:
    """The gateway requires `Content-Type: application/json` at registration, also with parameters."""
    world.gateway_endpoints.requires_json_label = True


def _more_in_every_answer(world: AgentWorld) -> None:
    """All answers have unknown members, to be ignored by RFC 9728 section 3.2 and RFC 6749 section 5.1.

    The registration answer repeats what was registered (RFC 7591 section 3.2.1).
    """
    world.gateway_endpoints.extra_members = _MORE
    world.service.script.always(Endpoint.METADATA, Answer(members=_MORE))


def _metadata_at_another_path(world: AgentWorld) -> None:
    """The metadata are where the challenge says, and not at the usual address."""
    world.service.metadata_moved = True


def _answers_written_otherwise(world: AgentWorld) -> None:
    """`bearer` replaces `Bearer` (RFC 6749 section 5.1), and the JSON Content-Type has parameters.

    Header names have capitals (RFC 9110 section 5.1), as in the specification's `WWW-Authenticate`.
    """
    world.service.script.always(Endpoint.OPERATION, Answer(capitals=True))
    world.service.script.always(Endpoint.METADATA, Answer(headers=_OTHERWISE, capitals=True))
    for endpoint in (Endpoint.DISCOVERY, Endpoint.REGISTRATION):
        world.gateway_endpoints.script.always(endpoint, Answer(headers=_OTHERWISE, capitals=True))
    bearer = Answer(headers=_OTHERWISE, members={"token_type": "bearer"}, capitals=True)
    world.gateway_endpoints.script.always(Endpoint.TOKEN, bearer)


METADATA_MOVED = "metadata at another path of the service"
OTHER_GATEWAYS: Mapping[str, Callable[[AgentWorld], None]] = {
    METADATA_ELSEWHERE: lambda _: None,
    METADATA_MOVED: _metadata_at_another_path,
    "more in the redirect": _more_in_the_redirect,
    "reserved characters": _reserved_characters,
    "registrations read by their label": _registrations_by_their_label,
    "more in every answer": _more_in_every_answer,
    "answers written otherwise": _answers_written_otherwise,
}


@check("AGENT-01")
def operation_is_carried_out(agents: Agents) -> None:
    """The agent finds endpoints that are named only in the documents, and gets the orders."""
    run = require_ended(agents.normal())

    observe(requests=len(run.calls()), seconds=run.took_s)
    expect_done(run)


@check("AGENT-01", cases=tuple(OTHER_GATEWAYS))
def operation_is_carried_out_at_other_gateways(agents: Agents, case: str) -> None:
    """The agent gets the orders at gateways that differ in what the specification leaves open."""
    require_done(agents.normal())
    install = agents.install(metadata_apart=case == METADATA_ELSEWHERE)
    OTHER_GATEWAYS[case](install.world)
    run = require_ended(install.launch(f"a run with {case}"))
    if case == METADATA_ELSEWHERE:
        leave_out_without_metadata_elsewhere(install, run)
    elif case == METADATA_MOVED:
        leave_out_with_unused_metadata(run)

    expect_done(run)


@check("AGENT-01")
def operation_is_carried_out_in_gzip(agents: Agents) -> None:
    """An agent that accepts gzip gets the orders when service and gateway answer in gzip."""
    normal = require_done(agents.normal())
    if not any(asks_for_gzip(each.call) for each in normal.calls()):
        raise LeftOut("the agent does not accept gzip")
    install = agents.install()
    for script, endpoints in (
        (install.world.service.script, (Endpoint.OPERATION, Endpoint.METADATA)),
        (install.world.gateway_endpoints.script, (Endpoint.DISCOVERY, Endpoint.REGISTRATION, Endpoint.TOKEN)),
    ):
        for endpoint in endpoints:
            script.always(endpoint, Answer(gzips=True))

    expect_done(require_ended(install.launch("a run with answers in gzip")))


@check("AGENT-01", cases=tuple(CHALLENGES))
def operation_is_carried_out_by_other_challenges(agents: Agents, case: str) -> None:
    """The agent finds the metadata pointer without quotes, after other parameters, and with a query.

    The specification shows it without quotes. HTTP requires quotes for a URL there (RFC 9110 section 11.2),
    so an agent may require them, too.
    """
    require_done(agents.normal())
    install = agents.install()
    install.world.service.challenge = CHALLENGES[case]
    # Otherwise the agent may find the metadata at their usual address, without the challenge.
    install.world.service.metadata_moved = case == WITH_A_QUERY
    run = require_ended(install.launch(f"a run with a challenge whose pointer is {case}"))
    if case == WITHOUT_QUOTES and not run.done:
        raise LeftOut("the agent finds no pointer that stands without quotes")
    if case == WITH_A_QUERY:
        leave_out_with_unused_metadata(run, end=QUERY)

    expect_done(run)
    if case == WITH_A_QUERY:
        asked = [each.call.target for each in run.calls(Endpoint.METADATA)]
        expect.that(
            any(target.endswith(QUERY) for target in asked),
            "requests for the metadata",
            expected="the URL of the challenge, with its query",
            got=", ".join(asked) or "none",
        )


@check("AGENT-01")
def operation_is_carried_out_without_a_lifetime(agents: Agents) -> None:
    """The agent gets the orders with tokens without `expires_in`, in this run and the next."""
    require_done(agents.normal())
    install = agents.install()
    install.world.gateway_endpoints.script.always(Endpoint.TOKEN, Answer(members={"expires_in": None}))

    for what in ("a run with tokens without expires_in", "the next run with them"):
        expect_done(require_ended(install.launch(what)))


@check("AGENT-02")
def redirect_uris_are_https(agents: Agents) -> None:
    """Every redirect URI that the agent registers is HTTPS."""
    names_https_addresses(_registrations(agents))


@check("AGENT-02")
def authentication_method_is_client_secret_post(agents: Agents) -> None:
    """The agent registers the method client_secret_post."""
    names_its_method(_registrations(agents))


@check("AGENT-02")
def no_scope_of_the_resource_is_registered(agents: Agents) -> None:
    """The agent registers no scope of the Resource: it requests them in the authorization."""
    names_no_scope(_registrations(agents))


@check("AGENT-03")
def authorization_request_is_complete(agents: Agents) -> None:
    """Each required parameter is in the authorization request once, and fits the registration."""
    _registrations(agents)
    found = _visits(agents)
    asks_for_everything(
        found, (client for install, _ in all_authorizing_runs(agents) for client in clients_of(install))
    )


@check("AGENT-03")
def scope_holds_openid_and_one_of_the_resource(agents: Agents) -> None:
    """The requested scope contains `openid` and a scope of the Resource."""
    asks_for_scopes(_visits(agents))


@check("AGENT-03")
def spaces_are_written_percent_20(agents: Agents) -> None:
    """Spaces in the scope are encoded as %20, not as a plus sign."""
    writes_spaces_as_percent_20(_visits(agents))


@check("AGENT-06")
def exchange_is_form_encoded(agents: Agents) -> None:
    """The token request is a form with the right Content-Type."""
    is_a_form(_exchanged(agents))


@check("AGENT-06")
def credentials_are_in_the_body(agents: Agents) -> None:
    """Client ID and secret are fields of the form, not a Basic header."""
    made = _exchanged(agents)
    own = [client for install, _ in all_authorizing_runs(agents) for client in clients_of(install)]
    has_credentials_in_its_body(made, own)


@check("AGENT-06")
def redirect_uri_is_the_one_of_the_authorization(agents: Agents) -> None:
    """The token request repeats the redirect URI of the authorization exactly."""
    repeats_its_redirect_uri(_exchanged(agents), _visits(agents))


@check("AGENT-06")
def verifier_matches_the_challenge(agents: Agents) -> None:
    """The S256 of the verifier is the challenge of the authorization that gave the code."""
    proves_its_code(_exchanged(agents), _visits(agents))


def _registrations(agents: Agents) -> list[ReceivedRequest]:
    calls = [each for run in agents.runs() for each in run.calls(Endpoint.REGISTRATION)]
    require.that(bool(calls), "the normal run", expected="a registration", got="none")
    return calls


def _visits(agents: Agents) -> list[Asked]:
    """Every authorization, with its request as the gateway received it."""
    found = authorizations(run for _, run in all_authorizing_runs(agents))
    require.that(bool(found), "the normal run", expected="an authorization", got="none")
    return found


def _exchanged(agents: Agents) -> list[ReceivedRequest]:
    found = [each for _, run in all_authorizing_runs(agents) for each in exchanges(run)]
    require.that(bool(found), "the normal run", expected="an exchange of a code", got="none")
    return found
