"""Finds out whether a launched service looks for a new key at once, or some time after the last fetch."""

from __future__ import annotations

import time
from dataclasses import replace

from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.service import unrecorded
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.client import RateLimited, TargetSilent

# A service that has just fetched the keys may fetch again after a second.
_WITHIN_S = 2.0
_PAUSE_S = 0.25


def finds_new_keys_seldom(context: ServiceContext) -> bool | None:
    """True if a key that was just added does not work at once; None if that is not known.

    Only a launched service is called: one that runs on would keep its first Proxy token, which a run needs.
    """
    if context.target.launch is None:
        return None
    # It does not find out which algorithm the service takes: that takes a minute if it takes none.
    service = replace(unrecorded(context.target), algorithms=None)
    try:
        return _seldom(service, context.world)
    except (LeftOut, RateLimited, TargetSilent):
        return None
    finally:
        service.wire.close()


def _seldom(service: Service, world: ServiceWorld) -> bool | None:
    gateway, user = world.gateway, USERS[0]
    if not _works(service, world, gateway.access_token(user)):
        return None
    added, until = gateway.add_core_key(), time.monotonic() + _WITHIN_S
    while True:
        if _works(service, world, gateway.token_signed_with(added, user)):
            return False
        if time.monotonic() > until:
            return True
        time.sleep(_PAUSE_S)


def _works(service: Service, world: ServiceWorld, token: str) -> bool:
    return service.returns_orders(service.serve(token), world.gateway.orders_of(USERS[0]))
