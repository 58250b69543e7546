"""Agents that believe what the service's own metadata address says, or leads to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateproof.reference.agent.policy import discovery, operation
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, followed
from gateproof.reference.defects.agent.row import defect

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def redirected_metadata() -> dict[str, Any]:
    """Compares `resource` only if the challenge points to another host, and follows redirects."""
    pointers: list[str] = []

    def metadata_url(challenges: Sequence[str], service_url: str) -> str:
        pointers[:] = [discovery.metadata_url(challenges, service_url)]
        return pointers[0]

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        own = "/".join(service_url.split("/")[:3])
        return pointers[0].startswith(own) or discovery.is_about(metadata, service_url)

    def follows(asked: Outgoing, answer: Answer) -> Outgoing | None:
        to = next(iter(answer.headers_named("location")), "")
        if asked.url in pointers and answer.status in _REDIRECTS and to:
            return replace(asked, url=to)
        return followed(asked, answer)

    return {"metadata_url": metadata_url, "is_about": is_about, "followed": follows}


def called_where_the_metadata_say() -> dict[str, Any]:
    """Sends the operation with its token to the `resource` of the metadata."""
    named: list[str] = []

    def is_about(metadata: Mapping[str, Any], _service_url: str) -> bool:
        named[:] = [str(metadata.get("resource"))]
        return True

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        if authorization and named:
            settings = replace(settings, service_url=named[0])
        return operation.operate(settings, ask, authorization)

    return {"is_about": is_about, "operate": operate}


DEFECTS = (
    defect(
        "redirected-metadata-trusted (AGENT-13): The agent follows a redirect of the service's metadata "
        "address, and does not compare the resource of what it finds there.",
        **redirected_metadata(),
    ),
    defect(
        "called-where-the-metadata-say (AGENT-18 AGENT-13): The agent calls the resource that the metadata "
        "name, on any host.",
        **called_where_the_metadata_say(),
    ),
)
