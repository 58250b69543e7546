"""How a service looks for a new key: learned from each lookup, so that later checks do not wait in vain."""

from __future__ import annotations

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.fakes.gateway.script import Endpoint


def note_lookup(world: ServiceWorld, since: int) -> None:
    """Counts a lookup that found a new key, and notes whether the discovery document was fetched for it, too.

    `since` is the mark in the journal from when the key was added. A service that did not fetch the key set
    since then shows nothing.
    """
    asked = {
        call.endpoint for call in world.gateway.journal.since(since, Endpoint.DISCOVERY, Endpoint.CORE_KEYS)
    }
    if Endpoint.CORE_KEYS in asked:
        world.service_state.lookups += 1
        note_discovery(world, again=Endpoint.DISCOVERY in asked)


def note_discovery(world: ServiceWorld, *, again: bool) -> None:
    """Notes whether the service fetched the discovery document when it looked for a new key."""
    state = world.service_state
    state.discovers_again = again
    if (file := state.discovery_is_kept) is not None:
        if again:
            file.unlink(missing_ok=True)
        else:
            file.touch()


def may_discover_again(world: ServiceWorld) -> bool:
    """False if the service last looked for a new key without fetching the discovery document.

    Before it has looked for one, what another instance did counts.
    """
    state = world.service_state
    if state.discovers_again is None:
        return state.discovery_is_kept is None or not state.discovery_is_kept.exists()
    return state.discovers_again
