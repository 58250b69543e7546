"""Users sign in as before when the core has another signing key."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("AUTHZ-01", needs=["control:rotate_keys"])
def code_comes_after_a_rotation(gateway: Gateway, world: World) -> None:
    """Users sign in and approve agents as before, those that were there and those that come now."""
    agent = world.agents.new()
    world.new_code(agent=agent)
    world.keys.rotate()

    code_came(gateway.visit(world.attempt(agent)), "authorization after a rotation")
    code_came(
        gateway.visit(world.attempt(world.agents.new())), "authorization of an agent from after a rotation"
    )
