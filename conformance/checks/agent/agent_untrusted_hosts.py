"""URLs that no trusted document named, or that are not protected by TLS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateproof.conformance.checks.agent._other_parties import no_code_was_sent, no_credential_sent_to
from gateproof.conformance.kit.agent.agent import Agents, Install, end_tokens, require_done, require_ended
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import (
    ATTACKER,
    CORE,
    GATEWAY,
    PLAIN_HTTP,
    SECOND,
    SECOND_CORE,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.wire.route import origin
from gateproof.fakes.gateway.script import Answer, Endpoint
from gateproof.fakes.orders_service import WELL_KNOWN


@dataclass(frozen=True, kw_only=True, slots=True)
class Lure:
    """Sets up an untrusted URL, names the parties there, and checks if a run of the agent got that far.

    `whose` describes the party in messages.
    """

    set_up: Callable[[Install], None]
    waits: tuple[str, ...]
    passes: Callable[[Run], bool]
    whose: str


def _token_endpoint_redirects(install: Install) -> None:
    world = install.world
    away = Answer(status=307, headers={"location": world.attacker.site.token_endpoint})
    world.gateway_endpoints.script.always(Endpoint.TOKEN, away)


def _token_endpoint_redirects_into_the_clear(install: Install) -> None:
    world = install.world
    clear = Answer(
        status=307, headers={"location": f"{world.url(PLAIN_HTTP)}{world.gateway_endpoints.site.token_path}"}
    )
    world.gateway_endpoints.script.always(Endpoint.TOKEN, clear)


def _service_redirects(install: Install) -> None:
    install.world.service.redirects_to = f"{install.world.url(ATTACKER)}/orders"


def _service_redirects_by_302(install: Install) -> None:
    """Some clients follow a 302 with GET and the same headers, but do not follow a 307."""
    _service_redirects(install)
    install.world.service.redirect_status = 302


def _service_redirects_into_the_clear(install: Install) -> None:
    install.world.service.redirects_to = f"{install.world.url(PLAIN_HTTP)}/orders"


def _authorization_server_in_the_clear(install: Install) -> None:
    """The document is the honest one, but over plain HTTP."""
    world, site = install.world, install.world.gateway_endpoints.site
    clear = world.url(PLAIN_HTTP)
    world.service.servers[:] = [site.authorization_server.replace(world.url(GATEWAY), clear)]
    endpoints = {
        "token_endpoint": f"{clear}{site.token_path}",
        "registration_endpoint": f"{clear}{site.registration_path}",
        "authorization_endpoint": f"{clear}{site.authorization_path}",
    }
    world.gateway_endpoints.script.always(Endpoint.DISCOVERY, Answer(members=endpoints))


def _token_endpoint_in_the_clear(install: Install) -> None:
    world = install.world
    endpoint = f"{world.url(PLAIN_HTTP)}{world.gateway_endpoints.site.token_path}"
    world.gateway_endpoints.script.always(Endpoint.DISCOVERY, Answer(members={"token_endpoint": endpoint}))


def _later(set_up: Callable[[Install], None]) -> Callable[[Install], None]:
    """The same for an install whose access token has expired: it might send its refresh token there."""

    def set_up_later(install: Install) -> None:
        require_done(install.launch("a run that gets tokens"))
        install.world.gateway_endpoints.end_access_tokens()
        set_up(install)

    return set_up_later


def _metadata_of_another_resource(install: Install) -> None:
    """The agent has a client at the honest gateway, and is shown another resource's metadata."""
    require_done(install.launch("a run that makes the agent a client of the honest gateway"))
    end_tokens(install.world)
    install.world.service.pointer = f"{install.world.url(ATTACKER)}{WELL_KNOWN}"


def _metadata_in_the_clear(install: Install) -> None:
    """Metadata in plain HTTP: the agent may read them, but a kept token is for the service only."""
    require_done(install.launch("a run that gets a token"))
    end_tokens(install.world)
    install.world.service.pointer = f"{install.world.url(PLAIN_HTTP)}{WELL_KNOWN}"


def _redirect_names_another(install: Install) -> None:
    attacker = install.world.attacker
    install.world.gateway_endpoints.extra_parameters = {
        "iss": attacker.site.authorization_server,
        "token_endpoint": attacker.site.token_endpoint,
    }


def _sent_on(run: Run) -> bool:
    return any(each.call.status in {302, 307} for each in run.calls(Endpoint.OPERATION))


def _challenged(run: Run) -> bool:
    return any(each.call.status == 401 for each in run.calls(Endpoint.OPERATION))


def _exchanged(run: Run) -> bool:
    return bool(run.calls(Endpoint.TOKEN, party=CORE))


def _redirected(run: Run) -> bool:
    return any(status is not None for visit in run.visits for status in visit.statuses)


def _read_metadata(run: Run) -> bool:
    return bool(run.calls(Endpoint.METADATA))


LURES = {
    "the token endpoint redirects": Lure(
        set_up=_token_endpoint_redirects,
        waits=(ATTACKER,),
        passes=_exchanged,
        whose="a host to which only the token endpoint's redirect points",
    ),
    "the token endpoint redirects in a later run": Lure(
        set_up=_later(_token_endpoint_redirects),
        waits=(ATTACKER,),
        passes=_exchanged,
        whose="a host to which only the token endpoint's redirect points",
    ),
    "the token endpoint redirects to plain HTTP": Lure(
        set_up=_token_endpoint_redirects_into_the_clear,
        waits=(PLAIN_HTTP,),
        passes=_exchanged,
        whose="an address in plain HTTP, to which the token endpoint redirects",
    ),
    "the service redirects": Lure(
        set_up=_service_redirects,
        waits=(ATTACKER,),
        passes=_sent_on,
        whose="a host to which only the service's redirect points",
    ),
    "the service redirects by 302": Lure(
        set_up=_service_redirects_by_302,
        waits=(ATTACKER,),
        passes=_sent_on,
        whose="a host to which only the service's redirect points",
    ),
    "the service redirects to plain HTTP": Lure(
        set_up=_service_redirects_into_the_clear,
        waits=(PLAIN_HTTP,),
        passes=_sent_on,
        whose="an address in plain HTTP, to which the service redirects",
    ),
    "the token endpoint is plain HTTP": Lure(
        set_up=_token_endpoint_in_the_clear,
        waits=(PLAIN_HTTP,),
        passes=lambda run: bool(run.calls(Endpoint.DISCOVERY)),
        whose="a token endpoint in plain HTTP",
    ),
    "the token endpoint is plain HTTP in a later run": Lure(
        set_up=_later(_token_endpoint_in_the_clear),
        waits=(PLAIN_HTTP,),
        passes=lambda run: bool(run.calls(Endpoint.DISCOVERY)),
        whose="a token endpoint in plain HTTP",
    ),
    "the authorization server is plain HTTP": Lure(
        set_up=_authorization_server_in_the_clear,
        waits=(PLAIN_HTTP,),
        passes=_read_metadata,
        whose="an authorization server in plain HTTP",
    ),
    "the metadata are another resource's": Lure(
        set_up=_metadata_of_another_resource,
        waits=(ATTACKER,),
        passes=lambda run: bool(run.calls(Endpoint.METADATA, party=ATTACKER)),
        whose="a gateway that only metadata of another resource name (RFC 9728 section 3.3)",
    ),
    "the metadata are in plain HTTP": Lure(
        set_up=_metadata_in_the_clear,
        waits=(PLAIN_HTTP,),
        passes=_challenged,
        whose="a host of metadata in plain HTTP",
    ),
    "the redirect names another gateway": Lure(
        set_up=_redirect_names_another,
        waits=(ATTACKER,),
        passes=_redirected,
        whose="a gateway that only the redirect names",
    ),
}
# True if the install has worked before it is shown the metadata of another resource.
WORKED_BEFORE = {"in its first run": False, "in a later run": True}


@check("AGENT-13", cases=tuple(LURES))
def credentials_do_not_go_where_nobody_sent_them(agents: Agents, case: str) -> None:
    """Credentials, codes and verifiers for the honest gateway are not sent to another party."""
    lure = LURES[case]
    require_done(agents.normal())
    install = agents.install()
    lure.set_up(install)
    run = require_ended(install.launch(f"a run in which {case}"))
    if len(install.runs) > 1 and not lure.passes(run):
        raise LeftOut("the agent has cached the documents, or reads none on another host")
    require.that(lure.passes(run), run.what, expected="an agent that connects", got="no connection")

    no_credential_sent_to(install.world.gateway_endpoints, run, lure.waits, lure.whose)


@check("AGENT-13", cases=tuple(WORKED_BEFORE))
def gateway_of_another_resource_gets_no_code(agents: Agents, case: str) -> None:
    """Metadata whose `resource` is at another host are not used (RFC 9728 section 3.3).

    A gateway that only such metadata name gets no code and no secret, not even those that it issued:
    otherwise the user would sign in for another resource than the agent's.
    """
    require_done(agents.normal())
    install = agents.install()
    if WORKED_BEFORE[case]:
        require_done(install.launch("a run that makes the agent a client of the honest gateway"))
        end_tokens(install.world)
    install.world.service.pointer = f"{install.world.url(ATTACKER)}{WELL_KNOWN}"
    run = require_ended(install.launch(f"a run that is shown another resource's metadata {case}"))
    if WORKED_BEFORE[case] and not run.calls(Endpoint.METADATA, party=ATTACKER):
        raise LeftOut("the agent has cached the documents, or reads none on another host")

    no_code_was_sent(run)


@check("AGENT-13")
def gateway_of_a_look_alike_gets_no_code(agents: Agents) -> None:
    """Metadata whose `resource` is at another host, but begins with the service's origin, are not used.

    The origin stands there as a user name (RFC 9728 section 3.3).
    """
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    attacker = urlsplit(world.url(ATTACKER))
    resource = f"{origin(world.service.url)}@{attacker.netloc}"
    world.attacker.script.always(Endpoint.METADATA, Answer(members={"resource": resource}))
    world.service.pointer = f"{world.url(ATTACKER)}{WELL_KNOWN}"
    run = require_ended(install.launch("a run whose metadata are of a look-alike of the service"))

    no_code_was_sent(run)


@check("AGENT-13")
def two_gateways_are_kept_apart(agents: Agents) -> None:
    """If the metadata name two gateways, credentials of one are not sent to the other."""
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    second = world.add_second_gateway()
    world.service.servers.append(second.site.authorization_server)
    run = require_ended(install.launch("a run with two gateways to choose from"))
    require.that(bool(run.calls(Endpoint.TOKEN)), "the run", expected="an exchange of a code", got="none")

    other = "a gateway that is not the one which issued it"
    no_credential_sent_to(world.gateway_endpoints, run, (SECOND, SECOND_CORE), other)
    no_credential_sent_to(second, run, (GATEWAY, CORE), other)
