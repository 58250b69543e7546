"""Metadata whose `resource` is not the service, in shapes that a careless comparison accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.checks.agent._interrupted_runs import AUTHORIZED
from gateproof.conformance.checks.agent._other_parties import no_code_was_sent
from gateproof.conformance.kit.agent.agent import Agents, require_all_in_time, require_done, require_ended
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import ATTACKER, GATEWAY, AgentWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.fakes.gateway.script import Answer, Endpoint
from gateproof.fakes.orders_service import WELL_KNOWN


def _with_the_port_of_another(world: AgentWorld) -> str:
    host, port = urlsplit(world.service.url).hostname, urlsplit(world.url(GATEWAY)).port
    return f"https://{host}:{port}"


# The `resource` in metadata on another host than the service's; without one, the member is left out.
OTHER_RESOURCES: Mapping[str, Callable[[AgentWorld], Any]] = {
    "missing": lambda _: None,
    "a list of two": lambda world: [world.url(ATTACKER), world.service.url],
    "the service's, cut short": lambda world: world.service.url[:-1],
    "the service's host with another port": _with_the_port_of_another,
}


@check("AGENT-13", cases=tuple(OTHER_RESOURCES))
def metadata_elsewhere_need_the_resource_itself(agents: Agents, case: str) -> None:
    """Metadata on another host are used only if their `resource` is the service (RFC 9728 section 3.3)."""
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    named = Answer(members={"resource": OTHER_RESOURCES[case](world)})
    world.attacker.script.always(Endpoint.METADATA, named)
    world.service.pointer = f"{world.url(ATTACKER)}{WELL_KNOWN}"
    run = require_ended(install.launch(f"a run with metadata elsewhere whose resource is {case}"))

    no_code_was_sent(run)


@check("AGENT-13")
def metadata_of_a_403_are_compared_as_well(agents: Agents) -> None:
    """Metadata of another resource are not used either if a 403 with insufficient_scope points to them.

    An agent need not read them at all: it may end at a 403.
    """
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    wants = (
        f'Bearer error="insufficient_scope", scope="{" ".join(world.service.scopes)}", '
        f'resource_metadata="{world.url(ATTACKER)}{WELL_KNOWN}"'
    )
    forbids = Answer(status=403, headers={"www-authenticate": wants}, whose=AUTHORIZED)
    world.service.script.always(Endpoint.OPERATION, forbids)
    run = require_ended(install.launch("a run in which a 403 points to metadata of another resource"))

    no_code_was_sent(run)


@check("AGENT-13")
def kept_token_without_a_scope_opens_the_named_endpoint_alone(agents: Agents) -> None:
    """If a kept token is said to lack a scope, the agent authorizes where its documents say, or not at all.

    In a new run the agent has read no document yet.
    """
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    named = world.gateway_endpoints.site.authorization_endpoint
    first = require_done(install.launch("a run that gets a token"))
    require.that(
        named in _opened(first),
        first.what,
        expected="an authorization at the endpoint of the discovery document",
        got="none there",
    )
    wants = (
        f'Bearer error="insufficient_scope", scope="{" ".join(world.service.scopes)}", '
        f'resource_metadata="{world.service.url}{world.service.metadata_path}"'
    )
    forbids = Answer(status=403, headers={"www-authenticate": wants}, whose=AUTHORIZED)
    world.service.script.always(Endpoint.OPERATION, forbids)
    run = install.launch("a run whose kept token is said to lack a scope")
    forbidden = any(each.call.status == 403 for each in run.calls(Endpoint.OPERATION))
    require.that(forbidden, run.what, expected="a call with a token", got="none", exchange=run.last())

    elsewhere = [address for address in _opened(run) if address != named]
    expect.that(
        not elsewhere,
        f"authorizations of {run.what}",
        expected="none but at the authorization_endpoint of the discovery document",
        got=", ".join(elsewhere),
        exchange=run.last(),
    )
    require_all_in_time([run])


@check("AGENT-13")
def metadata_that_a_redirect_leads_to_are_compared_as_well(agents: Agents) -> None:
    """Metadata of another resource are not used either if the service's metadata address redirects to them.

    An agent need not follow such a redirect.
    """
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    elsewhere = {"location": f"{world.url(ATTACKER)}{WELL_KNOWN}"}
    world.service.script.always(Endpoint.METADATA, Answer(status=302, headers=elsewhere))
    run = require_ended(install.launch("a run whose metadata address redirects to another resource's"))

    no_code_was_sent(run)


def _opened(run: Run) -> list[str]:
    """The addresses of the authorizations, without their queries."""
    return [visit.url.partition("?")[0] for visit in run.visits]
