"""A service that was in trouble is waited for, until it once did not get over one."""

from __future__ import annotations

import time
from contextlib import suppress

from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service
from conformance.wire.client import RateLimited, TargetSilent
from conformance.wire.exchange import Exchange
from fakes.gateway.journal import Call
from fakes.gateway.script import Endpoint

# Circuit breakers stay open for up to a minute, as they come.
RECOVERS_WITHIN_S = 70.0
# Who did not get over one trouble in that time is not given as long for each of the next fifty.
ONCE_GIVEN_UP_S = 3.0
USER = USERS[0]


def waited_for(
    service: Service, world: ServiceWorld, within_s: float = RECOVERS_WITHIN_S, token: str = ""
) -> Exchange:
    """The operation, with this token or else one that the service has never seen, until it works.

    One that falls silent meanwhile has not got over its trouble: its last answer is none.
    """
    given_s = min(within_s, ONCE_GIVEN_UP_S) if world.standing.given_up else within_s
    orders, until, pause = world.gateway.orders_of(USER), time.monotonic() + given_s, 0.05
    answer = service.serve(token or world.unseen_token(USER))
    while not service.brings(answer, orders) and time.monotonic() < until:
        time.sleep(pause)
        pause = min(2.0, 2 * pause)
        try:
            answer = service.serve(token or world.unseen_token(USER))
        except TargetSilent:
            break
    if service.brings(answer, orders):
        world.standing.given_up = False
    elif given_s >= RECOVERS_WITHIN_S:
        world.standing.given_up = True
    return answer


def calm(service: Service, world: ServiceWorld) -> None:
    """What a check did to a service that has served before is over when the next one begins."""
    if not world.standing.given_up and _was_in_trouble(world):
        with suppress(TargetSilent, RateLimited):
            waited_for(service, world)


def _was_in_trouble(world: ServiceWorld) -> bool:
    """Since the merchant last gave orders to the service, somebody has failed or refused it."""
    calls = world.gateway.journal.since(0)
    last = max((at for at, call in enumerate(calls) if _served(call)), default=None)
    return last is not None and any(call.status >= 400 or not call.status for call in calls[last + 1 :])


def _served(call: Call) -> bool:
    return call.endpoint is Endpoint.MERCHANT_API and call.status == 200
