"""Other legal ways for a service to treat what callers say of themselves, and of what they want."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.variants.variant import variant


def _by_way_of(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """A proxy says by which name it was called, and only its caller is told so."""
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
    """As in HAL, an answer says by which address it was asked for."""
    if answered.status != 200 or asked.path != "/orders":
        return answered
    link = {"self": {"href": f"{asked.path}?{asked.query}"}}
    document = {**json.loads(answered.body), "_links": link}
    return replace(answered, body=json.dumps(document).encode())


def _strict(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Whatever is not known is refused, and named in the refusal."""
    if answered.status != 200 or asked.path != "/orders" or not asked.query:
        return answered
    said = {"error": "unknown_parameter", "detail": f"no such parameter: {asked.query}"}
    return Answered(
        status=400, headers=(("content-type", "application/json"),), body=json.dumps(said).encode()
    )


VARIANTS = (
    variant(
        "pointer-by-way-of-a-proxy: the challenge and the metadata name the host that the proxy before the "
        "service was called by",
        around=meddling(_by_way_of),
    ),
    variant(
        "callers-sent-to-its-own-host: whoever called it by another name, says a proxy, is sent to its own",
        around=meddling(_to_its_own_host),
    ),
    variant(
        "orders-with-links: the answer says by which address it was asked for",
        around=meddling(_with_links),
    ),
    variant(
        "unknown-parameters-named: a parameter that is not known is refused, and named in the refusal",
        around=meddling(_strict),
    ),
)
