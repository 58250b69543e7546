"""The protected resource metadata file that the Console offers for a Resource."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gateproof.conformance.kit.gateway.console import resource_metadata
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import attach, expect
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.wire.documents import holds_url


@check("META-06")
def metadata_file_names_the_authorization_server(world: World) -> None:
    """The metadata file of a Resource is a JSON object that names the Resource's authorization server."""
    _each_names_its_own(world, [world.projects.home().resource])


@check("META-06", needs=["resources:2"])
def metadata_file_of_each_resource_names_its_own(world: World) -> None:
    """The metadata file of each of two Resources names the authorization server of that Resource."""
    _each_names_its_own(world, world.projects.two_resources())


@check("META-06", needs=["two-projects"])
def metadata_file_in_another_project_names_its_own(world: World) -> None:
    """In two Projects, the metadata file of each Resource names the authorization server of that Resource."""
    _each_names_its_own(world, [world.projects.home().resource, world.projects.another().resource])


def _each_names_its_own(world: World, resources: Sequence[Resource]) -> None:
    for resource in resources:
        text = resource_metadata(world, resource)
        try:
            document = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            document = None
        expect.that(
            isinstance(document, dict),
            "metadata file of the Resource",
            expected="a JSON object",
            got="no JSON" if document is None else f"JSON {type(document).__name__}",
        )
        attach(metadata_file=document)
        servers = document.get("authorization_servers")
        wanted = f"{world.gateway.base_url}/{resource.id}"
        expect.that(
            holds_url(servers, wanted),
            "authorization_servers in the metadata file of the Resource",
            expected=f"an array with {wanted}",
            got=servers,
        )
