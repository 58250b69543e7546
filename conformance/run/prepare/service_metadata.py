"""Where a service has its metadata, and what they said before it was ever used."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.kit.service.service import POINTER, Service, challenges_of
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import parts_of

# A service that listens may have its routes, or its proxy in front, some moments later.
STARTS_WITHIN_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Introduction:
    """What came of the first question of all, and of the first one at the address that the metadata have."""

    metadata_url: str
    met: Exchange
    first: Exchange


def introduced(service: Service, *, guessed: bool, launched_within_s: float = 0.0) -> Introduction:
    """The document at the address of the service's metadata.

    Where that address was guessed, the challenge knows better: the path is of the service's own choosing, and
    another resource of the same host may have a document of its own where the guess leads. Who was launched
    and has neither document nor challenge has not started: it has as long again as its launch may take.
    """
    met = _once_started(service, STARTS_WITHIN_S)
    told = _pointer_of(service) if met.answer is not None and guessed else None
    if told is None and launched_within_s and _may_be_starting(met):
        met = _once_started(service, launched_within_s)
        told = _pointer_of(service) if met.answer is not None and guessed else None
    if told is not None and told != service.metadata_url:
        there = service.fetch(told, "metadata by the challenge")
        if _document(there) is not None:
            return Introduction(metadata_url=told, met=met, first=there)
    return Introduction(metadata_url=service.metadata_url, met=met, first=met)


def _once_started(service: Service, within_s: float) -> Exchange:
    """The answer at the address that was named or guessed; meanwhile nothing else is asked of the service."""
    until = time.monotonic() + within_s
    answer = service.metadata()
    while answer.status not in (None, 200) and time.monotonic() < until:
        time.sleep(0.25)
        answer = service.metadata()
    return answer


def _may_be_starting(met: Exchange) -> bool:
    """So answers what stands in front of a service that is not there yet."""
    return met.status is not None and (met.status == 404 or met.status >= 500)


def _document(answer: Exchange) -> Mapping[str, Any] | None:
    document = answer.json() if answer.status == 200 else None
    return document if isinstance(document, dict) else None


def _pointer_of(service: Service) -> str | None:
    """The address in the challenge of an operation without a token, where the service may be asked for it.

    Who goes by a public name has the same path where it is reached.
    """
    said = (each.parameters.get(POINTER, "") for each in challenges_of(service.operate()))
    named = [url for url in said if url.startswith("http")]
    here = (_at_the_service(service, url) for url in named)
    return next((url for url in [*named, *here] if url and service.wire.may_reach(url)), None)


def _at_the_service(service: Service, url: str) -> str:
    """The same place at the service's own address; nothing for what is no place."""
    own, parts = urlsplit(service.service_url), parts_of(url)
    if not parts.netloc:
        return ""
    return parts._replace(scheme=own.scheme, netloc=own.netloc, fragment="").geturl()
