"""How many processes a service has, as far as its target file or its Proxy tokens show."""

from __future__ import annotations

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.fakes.gateway.script import Endpoint

PROXY_TOKEN_HEADER = "x-proxy-token"  # noqa: S105 - a header
# Processes of a service whose target file does not state their number (rule BACK-02).
PROCESSES = 4


def processes(world: ServiceWorld) -> int:
    """How many processes of the service may each hold their own Proxy token."""
    return world.limits.worker_processes or PROCESSES


def has_several(world: ServiceWorld) -> bool:
    """True if the service is known to have several processes.

    The target file says so, or the service has redeemed with a Proxy token again after it had used another.
    """
    if world.limits.worker_processes is not None:
        return world.limits.worker_processes > 1
    left: set[str] = set()
    current = ""
    for call in world.gateway.journal.since(0, Endpoint.REDEMPTION):
        shown = call.header(PROXY_TOKEN_HEADER) or ""
        if shown in left:
            return True
        if current and shown != current:
            left.add(current)
        current = shown
    return False
