"""Other legal ways for a service to handle forwarded host names and query parameters."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.variants.variant import variant


def _by_way_of(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """Replaces the service's host in the answer by the host that a proxy names."""
    host = asked.headers.get("x-forwarded-host")
    if host is None:
        return answered
    own = urlsplit(backend.settings.service_url).netloc
    headers = tuple((name, value.replace(own, host)) for name, value in answered.headers)
    return replace(answered, headers=headers, body=answered.body.replace(own.encode(), host.encode()))


def _to_its_own_host(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    host, own = asked.headers.get("x-forwarded-host"), backend.settings.service_url
    if host in (None, urlsplit(own).netloc):
        return answered
    return Answered(status=308, headers=(("location", f"{own}{asked.path}"),), body=b"")


def _with_links(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Adds a link to the requested address, as HAL does."""
    if answered.status != 200 or asked.path != "/orders":
        return answered
    link = {"self": {"href": f"{asked.path}?{asked.query}"}}
    document = {**json.loads(answered.body), "_links": link}
    return replace(answered, body=json.dumps(document).encode())


def _strict(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Refuses a request with a query, and quotes the query in the error."""
    if answered.status != 200 or asked.path != "/orders" or not asked.query:
        return answered
    said = {"error": "unknown_parameter", "detail": f"no such parameter: {asked.query}"}
    return Answered(
        status=400, headers=(("content-type", "application/json"),), body=json.dumps(said).encode()
    )


VARIANTS = (
    variant(
        "pointer-by-way-of-a-proxy: the challenge and the metadata contain the host in X-Forwarded-Host",
        around=altering_answers(_by_way_of),
    ),
    variant(
        "callers-sent-to-its-own-host: the service redirects requests with another host in X-Forwarded-Host "
        "to its own host",
        around=altering_answers(_to_its_own_host),
    ),
    variant(
        "orders-with-links: the answer contains a link to the requested address",
        around=altering_answers(_with_links),
    ),
    variant(
        "unknown-parameters-named: the service refuses unknown query parameters, and quotes them in the "
        "error",
        around=altering_answers(_strict),
    ),
)
