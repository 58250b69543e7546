"""Users can sign in after a rotation of the core's signing key."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("AUTHZ-01", needs=["control:rotate_keys"])
def code_comes_after_a_rotation(gateway: Gateway, world: World) -> None:
    """After a key rotation, agents registered before and after it get their codes."""
    agent = world.agents.new()
    world.new_code(agent=agent)
    world.keys.rotate()

    code_came(gateway.visit(world.attempt(agent)), "authorization after a rotation")
    code_came(
        gateway.visit(world.attempt(world.agents.new())), "authorization of an agent from after a rotation"
    )
