"""Discovery documents and key sets."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts
from gateproof.reference.gateway.records import Resource
from gateproof.reference.web import Endpoint, json_answer


def resource_of(gateway: Gateway, request: Request) -> Resource:
    """The Resource in the path; 404 if there is none."""
    resource = gateway.store.resources.get(request.path_params["resource_id"])
    if resource is None:
        raise HTTPException(404)
    return resource


def discovery(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        facts = DiscoveryFacts(
            base_url=gateway.base_url, core_url=gateway.core_url, resource=resource_of(gateway, request)
        )
        policies = gateway.policies
        document = policies.discovery_document(facts)
        return json_answer(document, policies.discovery_status, policies.discovery_headers)

    return endpoint


def resource_key_set(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        policies = gateway.policies
        own = resource_of(gateway, request).key
        keys = policies.resource_keys_shown(gateway.store.core_keys, own)
        document = policies.resource_key_set([policies.resource_jwk(key) for key in keys])
        return json_answer(document, headers=policies.discovery_headers)

    return endpoint


def core_key_set(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:  # noqa: ARG001 - the same for everybody
        policies, store = gateway.policies, gateway.store
        own = tuple(resource.key for resource in store.resources.values())
        keys = policies.core_keys_shown(store.core_keys, gateway.clock.now(), own)
        document = policies.core_key_set([policies.core_jwk(key) for key in keys])
        return json_answer(document, headers=policies.discovery_headers)

    return endpoint
