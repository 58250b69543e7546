"""Where a service has its metadata, and what they said before it was ever used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.service import POINTER, Service, challenges_of
from conformance.wire.exchange import Exchange


@dataclass(frozen=True, kw_only=True, slots=True)
class Introduction:
    """The first answer at the address of the metadata, and the document where there was one."""

    metadata_url: str
    first: Exchange
    document: Mapping[str, Any] | None


def introduced(service: Service, *, guessed: bool) -> Introduction:
    """The document at the address of the service's metadata.

    Where that address was guessed, the challenge knows better: the path is of the service's own choosing, and
    another resource of the same host may have a document of its own where the guess leads.
    """
    first = service.metadata()
    if first.answer is not None and guessed:
        url = _pointer(service.operate(), service.wire.may_reach)
        elsewhere = url is not None and url != service.metadata_url
        there = service.fetch(url, "metadata by the challenge") if url and elsewhere else None
        if url and there is not None and _document(there) is not None:
            return Introduction(metadata_url=url, first=first, document=_document(there))
    return Introduction(metadata_url=service.metadata_url, first=first, document=_document(first))


def _document(answer: Exchange) -> Mapping[str, Any] | None:
    document = answer.json() if answer.status == 200 else None
    return document if isinstance(document, dict) else None


def _pointer(answer: Exchange, may_reach: Callable[[str], bool]) -> str | None:
    found = [each.parameters.get(POINTER, "") for each in challenges_of(answer)]
    return next((url for url in found if url.startswith("http") and may_reach(url)), None)
