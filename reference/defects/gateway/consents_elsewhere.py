"""Gateways that store what a user approved by user and agent, without the Resource."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import REDIRECT_CHECKS, AuthorizationFacts
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.outcomes import Refusal


class Approved:
    """The scopes that each agent has requested, at any Resource."""

    def __init__(self) -> None:
        self._scopes: dict[str, dict[str, None]] = {}

    def of(self, facts: AuthorizationFacts) -> dict[str, None]:
        return self._scopes.setdefault(facts.value("client_id"), {})

    def noted(self, facts: AuthorizationFacts) -> AuthorizationRequest:
        self.of(facts).update(dict.fromkeys(facts.scopes))
        return authorization.authorization_request(facts)


def known_elsewhere() -> dict[str, Any]:
    """A scope that the agent was granted before is granted again."""
    approved = Approved()

    def known(facts: AuthorizationFacts) -> Refusal | None:
        if set(facts.scopes) <= {*facts.resource.scopes, *approved.of(facts)}:
            return None
        return authorization.scopes_are_known(facts)

    checks = instead(REDIRECT_CHECKS, authorization.scopes_are_known, known)
    return {"redirect_checks": checks, "authorization_request": approved.noted}


def all_of_the_consent() -> dict[str, Any]:
    """Grants everything that is in the stored consent of the agent."""
    approved = Approved()

    def request(facts: AuthorizationFacts) -> AuthorizationRequest:
        elsewhere = set(approved.of(facts)) - set(facts.resource.scopes) - set(facts.scopes)
        asked = approved.noted(facts)
        return replace(asked, scopes=(*asked.scopes, *sorted(elsewhere)))

    return {"authorization_request": request}


DEFECTS = (
    defect(
        "scopes-of-an-earlier-consent (AUTHZ-18): A scope that the agent was granted at another Resource is "
        "granted at every Resource.",
        **known_elsewhere(),
    ),
    defect(
        "all-scopes-of-the-consent (AUTHZ-18): A token has all scopes that the agent was granted before, "
        "also those of other Resources.",
        **all_of_the_consent(),
    ),
)
