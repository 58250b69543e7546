"""Finds the metadata of a service, and keeps their first content."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.kit.service.service import POINTER, Service, challenges_of
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import parts_of

# After a service listens, its routes or a proxy in front of it may take some time.
STARTS_WITHIN_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundMetadata:
    """The metadata URL, the very first exchange, and the first exchange at that URL."""

    metadata_url: str
    met: Exchange
    first: Exchange


def find_metadata(service: Service, *, guessed: bool, launched_within_s: float = 0.0) -> FoundMetadata:
    """Finds the metadata document of the service.

    If the URL was guessed, the URL in the challenge has priority: the service may use any path, and the
    guessed one may belong to another resource of the host. A launched service with neither document nor
    challenge has not started yet, and gets its launch timeout once more.
    """
    met = _once_started(service, STARTS_WITHIN_S)
    told = _pointer_of(service) if met.answer is not None and guessed else None
    if told is None and launched_within_s and _may_be_starting(met):
        met = _once_started(service, launched_within_s)
        told = _pointer_of(service) if met.answer is not None and guessed else None
    if told is not None and told != service.metadata_url:
        there = service.fetch(told, "metadata by the challenge")
        if _document(there) is not None:
            return FoundMetadata(metadata_url=told, met=met, first=there)
    return FoundMetadata(metadata_url=service.metadata_url, met=met, first=met)


def _once_started(service: Service, within_s: float) -> Exchange:
    """Requests the metadata until the status is 200 or the time is over."""
    until = time.monotonic() + within_s
    answer = service.metadata()
    while answer.status not in (None, 200) and time.monotonic() < until:
        time.sleep(0.25)
        answer = service.metadata()
    return answer


def _may_be_starting(met: Exchange) -> bool:
    """True for answers of a proxy in front of a service that has not started."""
    return met.status is not None and (met.status == 404 or met.status >= 500)


def _document(answer: Exchange) -> Mapping[str, Any] | None:
    document = answer.json() if answer.status == 200 else None
    return document if isinstance(document, dict) else None


def _pointer_of(service: Service) -> str | None:
    """The metadata URL in the challenge of an operation without a token, if the run may request it.

    For a service with a public name, the same path at the address where it is reached.
    """
    said = (each.parameters.get(POINTER, "") for each in challenges_of(service.operate()))
    named = [url for url in said if url.startswith("http")]
    here = (_at_the_service(service, url) for url in named)
    return next((url for url in [*named, *here] if url and service.wire.may_reach(url)), None)


def _at_the_service(service: Service, url: str) -> str:
    """The same path at the service's address; empty for an invalid URL."""
    own, parts = urlsplit(service.service_url), parts_of(url)
    if not parts.netloc:
        return ""
    return parts._replace(scheme=own.scheme, netloc=own.netloc, fragment="").geturl()
