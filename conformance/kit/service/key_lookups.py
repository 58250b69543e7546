"""How a service looks for a new key: learned from each lookup, so that later checks do not wait in vain."""

from __future__ import annotations

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.fakes.gateway.script import Endpoint


def note_lookup(world: ServiceWorld, since: int) -> None:
    """Notes whether the service fetched the discovery document, too, when it looked for a new key.

    `since` is the mark in the journal from when the key was added. A service that did not fetch the key set
    since then shows nothing.
    """
    asked = {
        call.endpoint for call in world.gateway.journal.since(since, Endpoint.DISCOVERY, Endpoint.CORE_KEYS)
    }
    if Endpoint.CORE_KEYS in asked:
        world.service_state.discovers_again = Endpoint.DISCOVERY in asked
