"""Pending and approved agents at a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came, no_code
from gateproof.conformance.kit.gateway.codes import AFTER_AN_APPROVAL
from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Attempt


@check("AUTHZ-07", needs=["restart", "control:approve_agent"])
def pending_agent_gets_no_code_after_a_restart(world: World) -> None:
    """An agent that was Pending before a restart gets no code after it, where an approved agent does."""
    there, kept = after_a_restart(world)
    pending, approved = _agents(kept.pending, kept.approved)
    there.code_for(_again(there, approved), step=AFTER_AN_APPROVAL)

    no_code(there.gateway.visit(_again(there, pending), wherever=True), "sign-in after a restart")


@check("AUTHZ-08", needs=["restart", "control:approve_agent"])
def approved_agent_gets_a_code_after_a_restart(world: World) -> None:
    """An agent that an operator approved before a restart gets a code after it."""
    there, kept = after_a_restart(world)
    _, approved = _agents(kept.pending, kept.approved)

    code_came(
        there.gateway.visit(_again(there, approved)), "authorization of an approved agent after a restart"
    )


def _agents(pending: Attempt | None, approved: Attempt | None) -> tuple[Attempt, Attempt]:
    if pending is None or approved is None:
        raise LeftOut("no Project could hold agents before the restart")
    return pending, approved


def _again(there: World, attempt: Attempt) -> Attempt:
    """A new request of the same agent at the same Resource."""
    return there.attempt(attempt.agent, resource=attempt.resource)
