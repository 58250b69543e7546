"""Where a service has its metadata, and what they said before it was ever used."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.service import POINTER, Service, challenges_of
from conformance.wire.exchange import Exchange

# A service that listens may have its routes, or its proxy in front, some moments later.
STARTS_WITHIN_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Introduction:
    """What came of the first question of all, and of the first one at the address that the metadata have."""

    metadata_url: str
    met: Exchange
    first: Exchange


def introduced(service: Service, *, guessed: bool) -> Introduction:
    """The document at the address of the service's metadata.

    Where that address was guessed, the challenge knows better: the path is of the service's own choosing, and
    another resource of the same host may have a document of its own where the guess leads.
    """
    met = _once_started(service)
    if met.answer is not None and guessed:
        url = _pointer(service.operate(), service.wire.may_reach)
        elsewhere = url is not None and url != service.metadata_url
        there = service.fetch(url, "metadata by the challenge") if url and elsewhere else None
        if url and there is not None and _document(there) is not None:
            return Introduction(metadata_url=url, met=met, first=there)
    return Introduction(metadata_url=service.metadata_url, met=met, first=met)


def _once_started(service: Service) -> Exchange:
    """The answer at the address that was named or guessed; meanwhile nothing else is asked of the service."""
    until = time.monotonic() + STARTS_WITHIN_S
    answer = service.metadata()
    while answer.status not in (None, 200) and time.monotonic() < until:
        time.sleep(0.25)
        answer = service.metadata()
    return answer


def _document(answer: Exchange) -> Mapping[str, Any] | None:
    document = answer.json() if answer.status == 200 else None
    return document if isinstance(document, dict) else None


def _pointer(answer: Exchange, may_reach: Callable[[str], bool]) -> str | None:
    found = [each.parameters.get(POINTER, "") for each in challenges_of(answer)]
    return next((url for url in found if url.startswith("http") and may_reach(url)), None)
