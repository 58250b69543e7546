"""A target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._normal_flow import works_again, works_before
from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.restarts import kill_and_start, known_resource
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("ROBUST-02", needs=["restart"])
def normal_flow_works_after_the_target_was_killed(world: World) -> None:
    """After the target was killed and started again, the normal flow works at the same Resource."""
    there = world.instance().world()
    works_before(there)
    why = world.instance().kill_and_start()

    expect.that(
        not why, "start after the target was killed", expected="a target that goes on running", got=why
    )
    expect(known_resource(world)).status(200)
    works_again(there)


@check("ROBUST-04", needs=["restart"])
def agent_from_before_a_restart_works(world: World) -> None:
    """An agent that registered before a restart gets a code and tokens after it, as a new agent does."""
    there = world.instance().world()
    agent = there.grant().agent
    kill_and_start(world)
    there.grant()

    attempt = there.attempt(agent)
    visit = there.gateway.visit(attempt)
    code_came(visit, "authorization of an agent from before a restart")
    expect(there.gateway.exchange(there.authorization_of(attempt, visit.codes()[0]))).status(200)
