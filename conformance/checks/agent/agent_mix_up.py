"""Mix-up: the documents of one gateway lead the user to another gateway (RFC 9700 section 4.4)."""

from __future__ import annotations

from gateproof.conformance.checks.agent._other_parties import no_credential_sent_to
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Install,
    end_tokens,
    require_all_in_time,
    require_done,
    require_ended,
)
from gateproof.conformance.kit.agent.world import SECOND, SECOND_CORE
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe
from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints
from gateproof.fakes.gateway.script import Answer, Endpoint


@check("AGENT-13")
def code_of_a_mixed_up_gateway_is_kept_from_the_other(agents: Agents) -> None:
    """A code whose redirect names another gateway as `iss` is not sent to the gateway in use.

    The service has moved to a second gateway. Its document names the authorization endpoint of the first one,
    and its registration brings the client ID of the agent there. So the first gateway issues the code, and
    its redirect says so (RFC 9207 section 2.4). Agents may also refuse these documents, or have one redirect
    URI per gateway: then there is no code.
    """
    require_done(agents.normal())
    install = agents.install()
    first, second = _moved(install)
    # The party accepts unknown clients; otherwise it would not see what else they send.
    second.accepts_any_client = True
    honest_id = next(iter(first.clients))
    misleads = Answer(members={"authorization_endpoint": first.site.authorization_endpoint})
    second.script.always(Endpoint.DISCOVERY, misleads)
    second.script.always(Endpoint.REGISTRATION, Answer(members={"client_id": honest_id}))
    run = require_ended(install.launch("a run whose new gateway sends the user to the first one"))
    if not run.calls(Endpoint.DISCOVERY, party=SECOND):
        raise LeftOut("the agent stays with its first gateway, or has cached the documents")

    codes = {code for visit in run.visits for code in visit.codes()}
    observe(code_of_the_first_gateway=not codes.isdisjoint(first.codes))
    whose = "a gateway that is not the one which issued the code, as the redirect's `iss` says"
    no_credential_sent_to(first, run, (SECOND, SECOND_CORE), whose)
    twin = agents.install()
    _moved(twin)
    alone = twin.launch("a run whose new gateway names its own endpoints and issuer")
    require_all_in_time([alone])
    if not alone.done:
        raise LeftOut("the agent does not follow a service to another gateway")


def _moved(install: Install) -> tuple[AgentEndpoints, AgentEndpoints]:
    """Makes the agent a client of the first gateway; the service then names the second one instead.

    From then on, both announce and send their own `iss`.
    """
    world = install.world
    first, second = world.gateway_endpoints, world.add_second_gateway()
    require_done(install.launch("a run that makes the agent a client of the first gateway"))
    end_tokens(world)
    world.service.servers[:] = [second.site.authorization_server]
    for desk in (first, second):
        desk.extra_parameters = {"iss": desk.issuer}
    return first, second
