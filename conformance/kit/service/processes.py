"""How many processes a service has, as far as its target file or its Proxy tokens show."""

from __future__ import annotations

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.fakes.gateway.script import Endpoint

PROXY_TOKEN_HEADER = "x-proxy-token"  # noqa: S105 - a header
# Processes of a service whose target file does not state their number (rule BACK-02).
PROCESSES = 4
# How long the calls of a burst may go on with the Proxy tokens that were got for them.
BURST_S = 10.0


def processes(world: ServiceWorld) -> int:
    """How many processes of the service may each hold their own Proxy token."""
    return world.limits.worker_processes or PROCESSES


def has_several(world: ServiceWorld) -> bool:
    """True if the service probably has several processes.

    The target file says so, or the service has returned to an older Proxy token after it had used another.
    One process may get several tokens for a burst of calls, and uses them all within a few seconds.
    """
    if world.limits.worker_processes is not None:
        return world.limits.worker_processes > 1
    first_shown_s: dict[str, float] = {}
    current = ""
    for call in world.gateway.journal.since(0, Endpoint.REDEMPTION):
        shown = call.header(PROXY_TOKEN_HEADER) or ""
        since_s = call.at_s - first_shown_s.setdefault(shown, call.at_s)
        if shown != current and since_s > BURST_S:
            return True
        current = shown
    return False
