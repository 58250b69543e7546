"""Kills an instance of the target and starts it again; checks then look for data it confirmed before."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange

# A store that was killed may need time to recover; data that is missing after this time counts as lost.
RECOVERS_WITHIN_S, FOUND_WITHIN_S = 30.0, 5.0


def kill_and_start(world: World) -> None:
    """Kills the instance and starts it again; ROBUST-02 tests whether it serves after that.

    Later checks get other holding Projects. Otherwise a gateway that forgets the policy of a Project would
    break their preconditions, and AUTHZ-07 would not be tested.
    """
    instance = world.instance()
    instance.world().projects.pool.was_restarted()
    if why := instance.kill_and_start():
        raise LeftOut(f"the target did not start again after it was killed: {why}")
    if known_resource(world).status != 200:
        raise LeftOut("the target does not know its Resources any more after it was killed")


def known_resource(world: World) -> Exchange:
    """The discovery document of the instance's first Resource, as soon as it is served again."""
    instance = world.instance()
    there, begun = instance.world(), time.monotonic()
    while True:
        answer = there.gateway.discovery(there.projects.home().resource)
        if answer.status == 200:
            return answer
        if time.monotonic() - begun > (FOUND_WITHIN_S if answer.status == 404 else RECOVERS_WITHIN_S):
            instance.discard()
            return answer
        wait_for(Cause.RECOVERY, 0.25)
