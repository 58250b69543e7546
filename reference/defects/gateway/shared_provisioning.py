"""Gateways whose provisioning takes the agent from another sign-in that runs at the same moment."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.records import Agent, Grant, Resource


def agent_of_the_last_sign_in() -> dict[str, Any]:
    """Keeps the acting agent in one variable for all sign-ins, from its approve page on."""
    last: list[str] = []

    def page(facts: ApprovePageFacts) -> str:
        last[:] = [facts.agent.id]
        return approve_page(facts)

    def assertion(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
        claims = vault.user_assertion(grant, agent, resource, jti, now)
        return claims | {"act": {"client_id": last[0] if last else agent.id}}

    return {"approve_page": page, "user_assertion": assertion}


DEFECTS = (
    defect(
        "agent-of-the-last-sign-in (VAULT-09): If several users sign in at the same moment, the assertions "
        "for all of them name the agent of the last one.",
        **agent_of_the_last_sign_in(),
    ),
)
