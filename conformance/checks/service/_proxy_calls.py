"""Calls by which a service shows whether it needs a new Proxy token."""

from __future__ import annotations

import time

from gateproof.conformance.kit.service.service import Service, served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.fakes.gateway.script import Endpoint

USER = USERS[0]
# One for each worker process of the service (rule BACK-02).
MOST_REQUESTS = 4


def serves(service: Service, world: ServiceWorld) -> None:
    """A call that no merchant token of before does for is served."""
    served(service.serve(world.unseen_token(USER)), world.gateway.orders_of(USER))


def asks(service: Service, world: ServiceWorld, after_s: float = 0.0) -> bool:
    """Whether a call some seconds later needs another Proxy token, or it was got meanwhile."""
    mark = world.gateway.journal.mark()
    time.sleep(after_s)
    serves(service, world)
    return bool(world.gateway.journal.since(mark, Endpoint.TOKEN))
