"""The Proxy client in public metadata documents, and in errors for malformed bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gateproof.conformance.checks.gateway._secrecy import no_secrets_in_answers
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import ProxyClient
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Request

PROXY_CLIENT = ("proxy_client_secret", "proxy_client_id")
# Well-known names under which gateways and libraries publish metadata.
WELL_KNOWN = (
    "oauth-protected-resource",
    "oauth-authorization-server",
    "openid-configuration",
    "jwks.json",
)
BODIES = (
    *("nothing", "a string", "an array of objects", "cut off", "single quotes", "30000 arrays deep"),
    *("octets that are no UTF-8", "a raw NUL", "doubled members", "XML", "percent garbage", "random octets"),
)


@check("SECRET-04")
def proxy_client_is_in_no_metadata_document(gateway: Gateway, world: World, received: Received) -> None:
    """No metadata document contains the Proxy client's ID or secret, even right after its use."""
    _used(world)
    resource = world.projects.home().resource
    world.discovery(resource)
    for url in _documents(gateway, resource.id):
        gateway.fetch(url, "metadata document")

    no_secrets_in_answers(world, received, *PROXY_CLIENT)


@check("SECRET-04")
def proxy_client_is_in_no_error_for_a_bad_body(gateway: Gateway, world: World, received: Received) -> None:
    """No error for a malformed body contains the Proxy client's secret, or its ID for an agent.

    The bodies are sent without credentials; to the token endpoint also with the Proxy client's credentials.
    """
    client = _used(world)
    for step, request in _bad_bodies(gateway, client):
        gateway.wire.send(step, request)

    no_secrets_in_answers(world, received, *PROXY_CLIENT)


def _used(world: World) -> ProxyClient:
    """The home Project's Proxy client, which has just got a token; another of its tokens has redeemed."""
    valid_tokens(world)
    world.backend.proxy_token()
    return world.projects.home().proxy_client


def _documents(gateway: Gateway, resource_id: str) -> Iterator[str]:
    for origin in dict.fromkeys((gateway.base_url, gateway.core_url)):
        for name in WELL_KNOWN:
            yield f"{origin}/.well-known/{name}"
            yield f"{origin}/.well-known/{name}/{resource_id}"
            yield f"{origin}/{resource_id}/.well-known/{name}"


def _bad_bodies(gateway: Gateway, client: ProxyClient) -> Iterator[tuple[str, Request]]:
    token_endpoint = agent_wire.token_endpoint(gateway.core_url)
    form = agent_wire.form_post(token_endpoint, [("grant_type", "client_credentials")])
    places = {
        "registration": agent_wire.registration(agent_wire.registration_endpoint(gateway.base_url), {}),
        "redemption": backend_wire.redemption(gateway.base_url, bearer=None, proxy_token=None, resource="x"),
        "token endpoint": form,
        "token endpoint with a Proxy client": replace(form, headers=(*form.headers, gateway.basic(client))),
    }
    for place, good in places.items():
        for name in BODIES:
            yield f"{place}, with {name} as its body", replace(good, body=odd.BODIES[name])
