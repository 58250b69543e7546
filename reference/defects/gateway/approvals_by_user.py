"""Gateways in which an operator's approval is about the agent and a user."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import ConsentFacts
from gateproof.reference.gateway.records import Standing


def approved_for_those_who_tried() -> dict[str, Any]:
    """A row of agent and user becomes Pending at a sign-in, and the approval changes existing rows only."""
    tried: defaultdict[str, set[str]] = defaultdict(set)

    def consent(facts: ConsentFacts) -> Standing | None:
        if facts.standing == "pending":
            tried[facts.agent_id].add(facts.login_id)
        held = facts.agent_id in tried and facts.login_id not in tried[facts.agent_id]
        return "pending" if held else authorization.consent(facts)

    return {"consent": consent}


DEFECTS = (
    defect(
        "approved-for-those-who-tried (AUTHZ-08 ROBUST-04): An operator's approval of an agent counts only "
        "for users who signed in for this agent while it was Pending.",
        **approved_for_those_who_tried(),
    ),
)
