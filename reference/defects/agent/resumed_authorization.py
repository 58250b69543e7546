"""Agents that continue an authorization of an earlier run, with its state and verifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt, Octets
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

PENDING = "pending.json"


def resumed(octets: Octets) -> Attempt:
    """The authorization that an interrupted run has left behind, or a new one."""
    file = state_file(PENDING)
    if not file.exists():
        file.write_text(json.dumps(asdict(authorization.fresh_attempt(octets))))
    return Attempt(**json.loads(file.read_text()))


def over_with_its_redirect(step: str, _facts: Mapping[str, Any]) -> None:
    if step == "redirect":
        state_file(PENDING).unlink(missing_ok=True)


def unless_interrupted(run: Callable[[], int]) -> int:
    """Forgets the authorization at the end of a run, but not if it is interrupted by Ctrl-C."""
    code = run()
    state_file(PENDING).unlink(missing_ok=True)
    return code


DEFECTS = (
    defect(
        "authorization-resumed-after-an-interruption (AGENT-04): After an interruption during the sign-in, "
        "the next run uses the same state and verifier.",
        fresh_attempt=resumed,
        told=over_with_its_redirect,
        around=unless_interrupted,
    ),
)
