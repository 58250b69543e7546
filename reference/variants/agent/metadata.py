"""Other legal ways for an agent to use the service's metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.agent.policy import discovery, operation
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.variants.variant import variant

_WELL_KNOWN = "/.well-known/oauth-protected-resource"


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


def _on_its_own_origin(challenges: Sequence[str], service_url: str) -> str:
    """The pointer if it is on the service's origin, else the usual address there."""
    pointer, own = discovery.metadata_url(challenges, service_url), "/".join(service_url.split("/")[:3])
    return pointer if f"{pointer}/".startswith(f"{own}/") else f"{own}{_WELL_KNOWN}"


def _usual_address_first(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Without a token, reads the metadata at the usual address; calls the service only if there are none."""
    usual = f"{settings.service_url}{_WELL_KNOWN}"
    if given or ask(Outgoing(method="GET", url=usual)).status != 200:
        return operation.operate(settings, ask, given)
    challenge = f'Bearer resource_metadata="{usual}"'
    return Answer(status=401, headers=(("www-authenticate", challenge),))


VARIANTS = (
    variant(
        "metadata-of-the-origin-alone: the agent reads metadata only on the service's origin, at the usual "
        "address if the challenge points elsewhere",
        metadata_url=_on_its_own_origin,
    ),
    variant(
        "metadata-before-any-challenge: without a token, the agent reads the metadata at the usual address "
        "and calls no operation",
        operate=_usual_address_first,
    ),
    variant(
        "metadata-elsewhere-compared-exactly: the agent does not use metadata at another host whose resource "
        "is not exactly the URL that it called",
        **_exact_elsewhere(),
    ),
)
