"""An agent that registered before many others."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, rule_requires
from gateproof.conformance.suite.races import together
from gateproof.conformance.wire.client import RateLimited

# How many agents register, and how many of them at one moment.
OTHERS, AT_ONCE = 300, 6
# After this time, no more agents are registered.
LONGEST_S = 60.0


@check("ROBUST-04")
def first_agent_works_after_three_hundred_others(gateway: Gateway, world: World) -> None:
    """After 300 others have registered, the first agent still gets a code, tokens and a redemption.

    The positive twins are the same agent before, and a new agent after. A gateway may limit the number of
    agents; the first one must still work.
    """
    first, proxy_token = world.agents.new(), world.backend.proxy_token()
    world.backend.require_redeemed(world.grant(agent=first), proxy_token)
    deadline = time.monotonic() + LONGEST_S
    one_of_them = partial(_registered, gateway, world, OTHERS // AT_ONCE, lambda: time.monotonic() > deadline)
    others = sum(together([one_of_them] * AT_ONCE))
    world.worker_state.registrations += others
    if others == OTHERS:
        world.backend.require_redeemed(world.grant(), proxy_token)

    with rule_requires():
        grant = world.grant(agent=first)
    expect(world.backend.redeem_once_provisioned(grant, proxy_token)).status(200)
    if others < OTHERS:
        raise LeftOut(f"the gateway registered {others} agents in a row, and no more")


def _registered(gateway: Gateway, world: World, number: int, is_over: Callable[[], bool]) -> int:
    """Registers agents one after the other until one is refused or the time is over; returns their number."""
    for done in range(number):
        try:
            answer = gateway.register(world.agents.metadata())
        except RateLimited:
            return done
        if is_over() or answer.status not in {200, 201}:
            return done
    return number
