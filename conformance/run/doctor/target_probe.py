"""A few requests that show whether the target file is right; they are not checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gateproof.conformance.run.prepare.further_origins import further_places
from gateproof.conformance.run.prepare.gateway import target_place
from gateproof.conformance.run.prepare.service import unrecorded
from gateproof.conformance.targets import doubts
from gateproof.conformance.targets.model import GatewayTarget, ServiceTarget
from gateproof.conformance.wire import agent, backend
from gateproof.conformance.wire.client import RateLimited, TargetSilent, Wire
from gateproof.conformance.wire.exchange import Request


def probe_gateway(target: GatewayTarget) -> list[str]:
    """Things in the target file that are not answered with 200, each with the key to look at."""
    places = (target_place(target), *further_places(target.reach))
    wire = Wire(places, timeout_s=target.limits.request_timeout_s, record=lambda _: None)
    found: list[str] = []
    try:
        for what, requests in _listed(target):
            exchanges = [wire.send(what, request) for request in requests]
            exchange = exchanges[0]
            if all(each.status != 200 for each in exchanges):
                found.append(f"{what}: {exchange.outcome()}; {doubts.about(target, exchange)}".rstrip("; "))
    except (RateLimited, TargetSilent) as reason:
        found.append(str(reason))
    finally:
        wire.close()
    return found


def probe_service(target: ServiceTarget) -> list[str]:
    """Problems with the operation of the target file, which has to be refused without a token."""
    service = unrecorded(target)
    try:
        answer = service.operate()
    except (RateLimited, TargetSilent) as reason:
        return [str(reason)]
    finally:
        service.wire.close()
    if answer.status not in doubts.NOTHING_THERE and answer.answer is not None:
        return []
    what = f"{answer.request.method} {target.operation.path} without a token"
    keys = "path and tool" if target.operation.kind == "mcp" else "method and path"
    file = f" of {target.file.name}" if target.file is not None else ""
    return [f"{what}: {answer.outcome()}, expected status 401; are {keys} right under [operation]{file}?"]


def _listed(target: GatewayTarget) -> Iterator[tuple[str, Sequence[Request]]]:
    """A name and requests, of which one has to succeed."""
    for project in target.projects:
        for resource in project.resources:
            discovery = agent.discovery_url(target.base_url, resource.id)
            yield f"discovery of {resource.id}", [agent.get(discovery)]
            yield f"key set of {resource.id}", [agent.get(resource.jwks_uri)]
        for client in project.proxy_clients:
            if client.state == "active":
                endpoint = agent.token_endpoint(target.core_url)
                asked = backend.proxy_token(endpoint, client.id, client.secret, backend.Spelling())
                yield f"Proxy token for {client.id}", asked
