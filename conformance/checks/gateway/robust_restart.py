"""Agents that registered before the target was killed and started again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("ROBUST-04", needs=["restart"])
def agent_from_before_a_restart_works(world: World) -> None:
    """An agent that registered before a restart gets a code and tokens after it, as a new agent does."""
    there, kept = after_a_restart(world)
    there.grant()

    attempt = there.attempt(kept.grant.agent)
    visit = there.gateway.visit(attempt)
    code_came(visit, "authorization of an agent from before a restart")
    expect(there.gateway.exchange(there.authorization_of(attempt, visit.codes()[0]))).status(200)
