"""URLs in anonymous requests that the gateway may fetch."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire import agent as agent_wire
from gateproof.fakes.attacker_host import AttackerHost
from gateproof.fakes.serving import is_loopback

# Members of a registration that hold one URL, and those that hold several.
ONE = ("jwks_uri", "logo_uri", "client_uri", "policy_uri", "tos_uri", "sector_identifier_uri")
SEVERAL = ("request_uris", "post_logout_redirect_uris")
# How long after its answer the gateway may still fetch a URL.
FETCHED_WITHIN_S, POLL_S = 1.5, 0.05


@check("INTEROP-03", waits_s=1.5)
def what_a_registration_makes_the_gateway_fetch(gateway: Gateway, world: World) -> None:
    """Records which URLs in an anonymous registration the gateway fetches."""
    with _host(gateway, world) as host:
        good, refused = world.agents.metadata(), []
        for name in (*ONE, *SEVERAL):
            address = f"{host.origin}/{name}"
            answer = gateway.register(good | {name: [address] if name in SEVERAL else address})
            if answer.status not in {200, 201}:
                refused.append(name)
        fetched = _paths(host)

    named = [name for name in (*ONE, *SEVERAL) if f"/{name}" in fetched]
    observe(
        fetched_at_registration=", ".join(named) or "none",
        registration_refused_with=", ".join(refused) or "none",
    )


@check("INTEROP-03", waits_s=1.5)
def what_an_authorization_request_makes_the_gateway_fetch(gateway: Gateway, world: World) -> None:
    """Records whether the gateway fetches the request_uri of a known agent and of an unknown one."""
    with _host(gateway, world) as host:
        attempt = world.attempt()
        for name, client_id in (("known", attempt.agent.client_id), ("unknown", world.unique())):
            parameters = {
                **attempt.parameters,
                "client_id": client_id,
                "request_uri": f"{host.origin}/{name}",
            }
            gateway.fetch(
                agent_wire.authorization_url(
                    agent_wire.authorization_endpoint(gateway.base_url, attempt.resource.id),
                    list(parameters.items()),
                ),
                "authorization with a request_uri",
            )
        fetched = _paths(host)

    observe(
        request_uri_of_a_known_agent_fetched="/known" in fetched,
        request_uri_of_an_unknown_agent_fetched="/unknown" in fetched,
    )


def _host(gateway: Gateway, world: World) -> AttackerHost:
    """A server that the gateway can reach, and whose certificate it trusts."""
    at = urlsplit(gateway.base_url)
    if not is_loopback(at.hostname or ""):
        raise LeftOut("a gateway on another machine cannot reach a server on this one")
    return AttackerHost(world.service_certificate if at.scheme == "https" else None)


def _paths(host: AttackerHost) -> set[str]:
    """The paths requested from the host, including fetches shortly after the answer."""
    until = time.monotonic() + FETCHED_WITHIN_S
    while time.monotonic() < until:
        wait_for(Cause.REQUEST, POLL_S)
    return {urlsplit(request.path).path for request in host.received}
