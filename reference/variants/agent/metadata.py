"""Other legal ways for an agent to use the service's metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.agent.policy import discovery
from gateproof.reference.variants.variant import variant


def _exact_elsewhere() -> dict[str, Any]:
    """Metadata at another host than the service count only if `resource` is exactly the URL called."""
    pointer = ""

    def metadata_url(challenges: Sequence[str], service_url: str) -> str:
        nonlocal pointer
        pointer = discovery.metadata_url(challenges, service_url)
        return pointer

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        if urlsplit(pointer).netloc == urlsplit(service_url).netloc:
            return discovery.is_about(metadata, service_url)
        return metadata.get("resource") == service_url

    return {"metadata_url": metadata_url, "is_about": is_about}


VARIANTS = (
    variant(
        "metadata-elsewhere-compared-exactly: the agent does not use metadata at another host whose resource "
        "is not exactly the URL that it called",
        **_exact_elsewhere(),
    ),
)
