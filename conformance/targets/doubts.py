"""Hints about the target file: an answer can be wrong because a setting in the file is wrong.

If no setting was used in a request, there is no hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from urllib.parse import urlsplit

from gateproof.conformance.suite.claims import Broken
from gateproof.conformance.targets.model import GatewayTarget, Resource, ServiceTarget, Target
from gateproof.conformance.wire import agent, backend
from gateproof.conformance.wire.exchange import Exchange

# Statuses of a server at a path where it has no endpoint.
NOTHING_THERE = frozenset({404, 405, 501})
_CREDENTIALS_REFUSED = frozenset({400, 401, 403})
_SUCCESS = "status 200"


def target_file_hint(target: Target, broken: Broken) -> str:
    """A hint which setting of the target file may be the cause; empty if there is none."""
    if not isinstance(target, GatewayTarget):
        return ""
    answered = _about(target, broken.exchange, broken.expected) if broken.exchange is not None else ()
    return _question(target, chain(answered, _quoted(target, broken.expected)))


def about(target: GatewayTarget, exchange: Exchange) -> str:
    """The same for an answer that should have had status 200."""
    return _question(target, _about(target, exchange, _SUCCESS))


def _question(target: GatewayTarget, keys: Iterable[str]) -> str:
    if target.file is None:
        return ""
    key = next(iter(keys), "")
    return f"or is {key} wrong in {target.file.name}?" if key else ""


def unreachable(target: GatewayTarget | ServiceTarget, key: str, failure: str) -> str:
    """What to do if there is no answer at the address under this key."""
    if target.file is None:
        return "the embedded reference has ended"
    file = target.file.name
    if "certificate" in failure:
        done = "is ca_file right" if target.reach.ca_file else "name its CA as ca_file of [target]"
        return f"{done} in {file}"
    if "not HTTP" in failure or "handshake" in failure:
        return f"does it speak {urlsplit(getattr(target, key)).scheme} there, as {key} in {file} says?"
    return f"is it running, and is {key} right in {file}?"


def _about(target: GatewayTarget, exchange: Exchange, expected: str) -> Iterator[str]:
    url, status = exchange.request.url, exchange.status
    if status in NOTHING_THERE:
        for resource in _resources(target):
            yield from _about_resource(target, resource, exchange, expected)
        if url == agent.registration_endpoint(target.base_url) or _is_discovery(target, url):
            yield "base_url"
        if url == agent.token_endpoint(target.core_url):
            yield "core_url"
    if status in _CREDENTIALS_REFUSED and url == agent.token_endpoint(target.core_url):
        yield from _about_proxy_client(target, exchange)


def _about_resource(
    target: GatewayTarget, resource: Resource, exchange: Exchange, expected: str
) -> Iterator[str]:
    url, body = exchange.request.url, exchange.request.body
    if url == agent.discovery_url(target.base_url, resource.id):
        yield f"base_url, or id of [[projects.resources]] {resource.id},"
    if url == resource.jwks_uri:
        yield f"jwks_uri of [[projects.resources]] {resource.id}"
    named = url == backend.redemption_endpoint(target.base_url) and body == backend.resource_body(
        resource.indicator
    )
    # A check may cause a missing merchant token itself; then the target file is not the reason.
    if named and expected == _SUCCESS:
        yield f"indicator of [[projects.resources]] {resource.id}"


def _about_proxy_client(target: GatewayTarget, exchange: Exchange) -> Iterator[str]:
    for client in (client for project in target.projects for client in project.proxy_clients):
        shown = backend.basic(client.id, client.secret.reveal())
        if client.state == "active" and shown in exchange.request.headers:
            yield f"[[projects.proxy_clients]] {client.id}, or its secret in ${client.secret.variable},"


def _quoted(target: GatewayTarget, expected: str) -> Iterator[str]:
    """The keys whose values occur in the expectation."""
    for resource in sorted(_resources(target), key=lambda resource: len(resource.indicator), reverse=True):
        if resource.indicator in expected:
            yield f"indicator of [[projects.resources]] {resource.id}"
    for name, address in (("core_url", target.core_url), ("base_url", target.base_url)):
        if address in expected:
            yield name


def _resources(target: GatewayTarget) -> list[Resource]:
    return [resource for project in target.projects for resource in project.resources]


def _is_discovery(target: GatewayTarget, url: str) -> bool:
    resource_id = url.removeprefix(f"{target.base_url}/").partition("/")[0]
    return url == agent.discovery_url(target.base_url, resource_id)
