"""Gateways whose protected resource metadata file is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, metadata_file
from gateproof.reference.outcomes import JsonObject


def filed(change: Callable[[DiscoveryFacts], JsonObject]) -> Callable[[DiscoveryFacts, str], str]:
    """The correct file with some members replaced."""
    return lambda facts, service: json.dumps(json.loads(metadata_file(facts, service)) | change(facts))


def of_the_projects_first() -> Callable[[DiscoveryFacts, str], str]:
    """Makes the file once for each Project, for the Resource that is requested first."""
    made: dict[str, str] = {}

    def file(facts: DiscoveryFacts, service: str) -> str:
        return made.setdefault(facts.resource.project_id, metadata_file(facts, service))

    return file


def made_once() -> Callable[[DiscoveryFacts, str], str]:
    """Makes the file once and returns it for all Resources."""
    made: list[str] = []

    def file(facts: DiscoveryFacts, service: str) -> str:
        made[:] = made or [metadata_file(facts, service)]
        return made[0]

    return file


DEFECTS = (
    defect(
        "metadata-file-names-the-core (META-06): The authorization server in the metadata file is the core.",
        metadata_file=filed(lambda facts: {"authorization_servers": [facts.core_url]}),
    ),
    defect(
        "metadata-file-without-the-resource-id (META-06): The authorization server in the metadata file "
        "lacks the Resource ID.",
        metadata_file=filed(lambda facts: {"authorization_servers": [facts.base_url]}),
    ),
    defect(
        "metadata-file-names-one-server-as-text (META-06): authorization_servers in the metadata file is a "
        "string.",
        metadata_file=filed(lambda facts: {"authorization_servers": facts.authorization_server}),
    ),
    defect(
        "metadata-file-in-an-array (META-06): The metadata file is an array that contains the document.",
        metadata_file=lambda facts, service: f"[{metadata_file(facts, service)}]",
    ),
    defect(
        "metadata-file-of-the-projects-first-resource (META-06): All Resources of a Project have the "
        "metadata file of the Resource that was requested first.",
        metadata_file=of_the_projects_first(),
    ),
    defect(
        "metadata-file-made-once (META-06): All Resources have the metadata file of the Resource that was "
        "requested first.",
        metadata_file=made_once(),
    ),
)
