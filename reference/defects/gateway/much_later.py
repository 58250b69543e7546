"""Gateways whose memory of an event is too short, or that write a row before the event it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.second_credential import used_codes_forgotten_after
from gateproof.reference.gateway.policy import authorization, sign_in, vault
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts, authorization_request
from gateproof.reference.gateway.policy.redemption import (
    REDEMPTION_CHECKS,
    RedemptionCheck,
    RedemptionFacts,
    user_token_is_good,
)
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims, token_answer
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import AuthorizationRequest, Person, Standing, VaultEntry
from gateproof.reference.outcomes import Refusal

_DAY_S = 86_400


def revoked_for(seconds: float) -> RedemptionCheck:
    """A list of revoked grants whose rows expire."""
    first_seen: dict[str, float] = {}

    def check(facts: RedemptionFacts) -> Refusal | None:
        grant = facts.grant
        if grant is not None and grant.revoked:
            since = first_seen.setdefault(grant.id, facts.now)
            if facts.now - since > seconds:
                return None
        return user_token_is_good(facts)

    return check


def scopes_of_the_newest_request() -> dict[str, Any]:
    """The row of user and agent is updated when a request arrives, before the user has decided."""
    newest: dict[str, tuple[str, ...]] = {}

    def request(facts: AuthorizationFacts) -> AuthorizationRequest:
        newest[facts.value("client_id")] = facts.scopes
        return authorization_request(facts)

    def scope(facts: TokenFacts) -> str:
        refreshes = facts.request.value("grant_type") == "refresh_token"
        asked = newest.get(facts.agent.id, ()) if refreshes else ()
        return " ".join(dict.fromkeys((*facts.scopes, *asked)))

    return {
        "authorization_request": request,
        "access_token_claims": lambda facts: access_token_claims(facts) | {"scope": scope(facts)},
        "token_answer": lambda facts, tokens: token_answer(facts, tokens) | {"scope": scope(facts)},
    }


def with_the_old_token(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    """Stores the new token only together with its expiry."""
    new = vault.refreshed_entry(old, answer, now)
    return new if _states_a_life(answer) else replace(new, access_token=old.access_token)


def with_the_old_expiry(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    """COALESCE(new, old)."""
    new = vault.refreshed_entry(old, answer, now)
    return new if _states_a_life(answer) else replace(new, expires_at=old.expires_at)


def _states_a_life(answer: MerchantAnswer) -> bool:
    return (answer.document or {}).get("expires_in") is not None


def approval_of_the_first_row() -> dict[str, Any]:
    """After a day, an agent that waits gets a second row, which the operator's approval does not reach."""
    now, first_tries = 0.0, dict[tuple[str, str], float]()

    def remembered(person: Person | None, moment: float) -> Person | None:
        nonlocal now
        now = moment
        return sign_in.remembered(person, moment)

    def standing_key(project_id: str, agent_id: str) -> tuple[str, str]:
        since = first_tries.setdefault((project_id, agent_id), now)
        return project_id, f"{agent_id}#2" if now - since > _DAY_S else agent_id

    def record_approval(standings: dict[tuple[str, str], Standing], place: tuple[str, str]) -> None:
        project_id, agent_id = place
        authorization.record_approval(standings, (project_id, agent_id.removesuffix("#2")))

    return {"remembered": remembered, "standing_key": standing_key, "record_approval": record_approval}


_FOR_FIVE_MINUTES = instead(REDEMPTION_CHECKS, user_token_is_good, revoked_for(300))

DEFECTS = (
    defect(
        "used-codes-forgotten-after-twenty-minutes (CODE-02): A code is valid for ten hours, but the gateway "
        "forgets after twenty minutes that it was used.",
        code_lifetime_s=36_000,
        spend_code=used_codes_forgotten_after(1200),
    ),
    defect(
        "revoked-for-five-minutes (CODE-12): Five minutes after a grant was revoked, its access tokens "
        "redeem again.",
        redemption_checks=_FOR_FIVE_MINUTES,
        redemption_rechecks=_FOR_FIVE_MINUTES,
    ),
    defect(
        "refresh-for-the-newest-scopes (CODE-16): A refresh brings the scopes of the agent's newest "
        "authorization request, whatever the user decided.",
        **scopes_of_the_newest_request(),
    ),
    defect(
        "refresh-of-an-unstated-life-is-lost (VAULT-01): After a refresh that the merchant answers without "
        "expires_in, the old token stays.",
        refreshed_entry=with_the_old_token,
    ),
    defect(
        "refresh-of-an-unstated-life-is-over (REDEEM-16): After a refresh that the merchant answers without "
        "expires_in, expires_at is still that of the old token.",
        refreshed_entry=with_the_old_expiry,
    ),
    defect(
        "approval-of-the-first-row (AUTHZ-08): An operator's approval does not reach an agent that has "
        "waited for more than a day.",
        **approval_of_the_first_row(),
    ),
)
