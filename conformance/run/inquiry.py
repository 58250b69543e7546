"""A few requests whose answers show whether the target file says what is so; none of them is a check."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.run.prepare import target_place
from conformance.target import doubts
from conformance.target.model import GatewayTarget
from conformance.wire import agent, backend
from conformance.wire.client import RateLimited, TargetSilent, Wire
from conformance.wire.exchange import Request


def inquire(target: GatewayTarget) -> list[str]:
    """What is not answered with 200 although the target file lists it, each with the key to look at."""
    wire = Wire((target_place(target),), timeout_s=target.limits.request_timeout_s, record=lambda _: None)
    found: list[str] = []
    try:
        for what, request in _listed(target):
            exchange = wire.send(what, request)
            if exchange.status != 200:
                found.append(f"{what}: {exchange.outcome()}; {doubts.about(target, exchange)}".rstrip("; "))
    except (RateLimited, TargetSilent) as reason:
        found.append(str(reason))
    finally:
        wire.close()
    return found


def _listed(target: GatewayTarget) -> Iterator[tuple[str, Request]]:
    for project in target.projects:
        for resource in project.resources:
            yield f"discovery of {resource.id}", agent.get(agent.discovery_url(target.base_url, resource.id))
            yield f"key set of {resource.id}", agent.get(resource.jwks_uri)
        for client in project.proxy_clients:
            if client.state == "active":
                request = backend.proxy_token(agent.token_endpoint(target.core_url), client.id, client.secret)
                yield f"Proxy token for {client.id}", request
