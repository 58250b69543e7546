"""Agents that keep their client under a digest of a document, which may change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from gateproof.reference.agent.policy import discovery
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.defects.agent.row import defect


def _digest(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def by_discovery() -> dict[str, Any]:
    read: list[str] = [""]

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        read[0] = _digest(document)
        return discovery.endpoints(server, document)

    return {"endpoints": endpoints, "client_of": lambda found: f"{found.authorization_server} {read[0]}"}


def by_metadata() -> dict[str, Any]:
    read: list[str] = [""]

    def server(metadata: Mapping[str, Any]) -> str:
        read[0] = _digest(metadata)
        return discovery.authorization_server(metadata)

    return {
        "authorization_server": server,
        "client_of": lambda found: f"{found.authorization_server} {read[0]}",
    }


DEFECTS = (
    defect(
        "client-kept-by-its-discovery-document (AGENT-11): The agent registers again when the discovery "
        "document has a new member.",
        **by_discovery(),
    ),
    defect(
        "client-kept-by-its-metadata (AGENT-11): The agent registers again when the service's metadata "
        "document has a new member.",
        **by_metadata(),
    ),
)
