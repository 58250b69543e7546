"""Other legal rules on the Projects of an agent."""

from __future__ import annotations

from typing import Any

from gateproof.reference.gateway.policy.authorization import REDIRECT_CHECKS, AuthorizationFacts
from gateproof.reference.outcomes import Refusal
from gateproof.reference.variants.variant import variant


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


VARIANTS = (
    variant(
        "agents-belong-to-one-project: an agent that was used in one Project gets no code in another",
        **_one_project_each(),
    ),
)
