"""Other legal rules on the Projects of an agent and on its approval."""

from __future__ import annotations

import time
from math import inf
from typing import Any

from gateproof.reference.gateway.policy.authorization import (
    REDIRECT_CHECKS,
    AuthorizationFacts,
    ConsentFacts,
    consent,
    record_approval,
)
from gateproof.reference.gateway.records import Standing
from gateproof.reference.outcomes import Refusal
from gateproof.reference.variants.variant import variant

SEEN_AFTER_S = 2.0


def _one_project_each() -> dict[str, Any]:
    """Assigns an agent to the Project of its first authorization."""
    homes: dict[str, str] = {}

    def belongs(facts: AuthorizationFacts) -> Refusal | None:
        project_id = facts.resource.project_id
        if homes.setdefault(facts.value("client_id"), project_id) == project_id:
            return None
        return Refusal(
            status=403, error="unauthorized_client", description="The agent belongs to another Project."
        )

    return {"redirect_checks": (*REDIRECT_CHECKS, belongs)}


def _seen_later() -> dict[str, Any]:
    """An approval is stored at once, and reaches the process that signs users in after a moment."""
    approved_at: dict[str, float] = {}

    def recorded(standings: dict[tuple[str, str], Standing], place: tuple[str, str]) -> None:
        record_approval(standings, place)
        approved_at[place[1]] = time.monotonic()

    def consented(facts: ConsentFacts) -> Standing | None:
        is_new = time.monotonic() < approved_at.get(facts.agent_id, -inf) + SEEN_AFTER_S
        return "pending" if is_new else consent(facts)

    return {"record_approval": recorded, "consent": consented}


VARIANTS = (
    variant(
        "approval-takes-a-moment: an agent gets its code from two seconds after the operator's approval on",
        **_seen_later(),
    ),
    variant(
        "agents-belong-to-one-project: an agent that was used in one Project gets no code in another",
        **_one_project_each(),
    ),
)
