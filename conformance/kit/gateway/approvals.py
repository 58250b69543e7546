"""Authorizations of an agent that an operator has just approved."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway.codes import AFTER_AN_APPROVAL, require_code
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.parties import Agent, Resource
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import APPROVAL_S

PAUSE_S = 0.5


def visit_after_approval(world: World, agent: Agent, resource: Resource) -> Visit:
    """The authorization that gives a code, or one that began after the time that an approval may need."""
    deadline = time.monotonic() + APPROVAL_S
    while True:
        begun = time.monotonic()
        visit = world.gateway.visit(world.attempt(agent, resource=resource))
        if visit.codes() or begun > deadline:
            return visit
        wait_for(Cause.REQUEST, PAUSE_S)


def require_approved(world: World, agent: Agent, resource: Resource) -> Visit:
    """The approved agent gets a code, or the step of AUTHZ-08 has failed."""
    visit = visit_after_approval(world, agent, resource)
    require_code(world.gateway, visit, step=AFTER_AN_APPROVAL)
    return visit
