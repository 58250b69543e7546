"""Gateways whose refreshes find the Project by the Resource indicator alone."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import Grant, Resource, VaultEntry, VaultKey
from gateproof.reference.outcomes import JsonObject

Place = tuple[str, str]


def refreshes_kept_by_indicator() -> dict[str, Any]:
    """`UPDATE merchant_tokens SET ... WHERE login = ? AND indicator = ?`, without the Project."""
    asked_for: ContextVar[Place | None] = ContextVar("asked_for", default=None)
    newest: dict[Place, VaultEntry] = {}

    def key(grant: Grant, resource: Resource) -> VaultKey:
        asked_for.set((grant.person.login_id, resource.indicator))
        return redemption.vault_key(grant, resource)

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        entry = vault.refreshed_entry(old, answer, now)
        if (place := asked_for.get()) is not None:
            newest[place] = entry
        return entry

    def answer(entry: VaultEntry) -> JsonObject:
        place = asked_for.get()
        last = newest.get(place, entry) if place is not None else entry
        return redemption.redemption_answer(max(entry, last, key=lambda each: each.issued_at))

    return {"vault_key": key, "refreshed_entry": refreshed, "redemption_answer": answer}


def refreshed_project_by_indicator() -> Callable[[TokenFacts], JsonObject]:
    """`SELECT project_id FROM resources WHERE indicator = ? LIMIT 1`, at a refresh only."""
    first: dict[str, str] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        found = first.setdefault(facts.resource.indicator, facts.resource.project_id)
        right = access_token_claims(facts)
        if facts.request.value("grant_type") != "refresh_token":
            return right
        return right | {"ext": right["ext"] | {"project_id": found}}

    return claims


DEFECTS = (
    defect(
        "merchant-refreshes-without-the-project (REDEEM-12): A refreshed merchant token is stored for user "
        "and Resource indicator, in all Projects.",
        **refreshes_kept_by_indicator(),
    ),
    defect(
        "refreshed-project-by-indicator (CLAIM-08): After a refresh, `ext.project_id` is the first Project "
        "with this Resource indicator.",
        access_token_claims=refreshed_project_by_indicator(),
    ),
)
