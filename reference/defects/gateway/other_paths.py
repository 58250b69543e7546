"""Gateways that are correct on the usual path, and wrong on another one to the same result."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization, code_exchange, token_claims, vault
from gateproof.reference.gateway.records import (
    Agent,
    AuthorizationRequest,
    Resource,
    Standing,
    VaultEntry,
    VaultKey,
)
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import JsonObject, Refusal

Pairs = tuple[tuple[str, str], ...]
_GRANTS = frozenset({"authorization_code", "refresh_token", "client_credentials", ""})
# One authorization in so many reaches the process that did not learn of an approval.
_STALE_EACH = 5


def unescaped_for_a_known_agent() -> dict[str, Any]:
    """From an agent's second authorization on, `state` is appended to the redirect URI as it is."""
    known: set[str] = set()

    def redirect(request: AuthorizationRequest, code: str, issuer: str) -> str:
        honest = authorization.code_redirect(request, code, issuer)
        if request.client_id not in known:
            known.add(request.client_id)
            return honest
        separator = "&" if "?" in request.redirect_uri else "?"
        return f"{request.redirect_uri}{separator}code={code}&state={request.state}"

    return {"code_redirect": redirect}


def stale_in_one_process() -> dict[str, Any]:
    """Some authorizations of an agent that an operator approved still find it Pending."""
    approved: set[str] = set()
    asked: dict[str, int] = {}

    def record(standings: dict[tuple[str, str], Standing], place: tuple[str, str]) -> None:
        authorization.record_approval(standings, place)
        approved.update(place)

    def standing(store: Store, resource: Resource, agent: Agent, standing: Standing) -> Standing:
        if agent.id not in approved:
            return authorization.standing_at(store, resource, agent, standing)
        asked[agent.id] = asked.get(agent.id, 0) + 1
        return "pending" if asked[agent.id] % _STALE_EACH == 0 else standing

    return {"record_approval": record, "standing_at": standing}


def agent_by_its_id_after_a_refresh(facts: token_claims.TokenFacts) -> JsonObject:
    claims = token_claims.access_token_claims(facts)
    if facts.request.value("grant_type") != "refresh_token":
        return claims
    return claims | {"ext": claims["ext"] | {"agent": {"client_id": facts.agent.id}}}


def refresh_token_first(entry: VaultEntry, now: float) -> vault.Step:
    """Looks at the refresh token before the expiry."""
    return "reauthenticate" if entry.refresh_token is None else vault.step(entry, now)


def other_grants_are_the_machines(form: Pairs, query: Pairs) -> Pairs:
    """Handles every unknown grant type like client_credentials."""
    return tuple(
        (name, "client_credentials") if name == "grant_type" and value not in _GRANTS else (name, value)
        for name, value in code_exchange.form_alone(form, query)
    )


class OneRefreshPerResource(Vault):
    """Refuses a redemption that needs a refresh while another one of the Resource is running."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._refreshing: dict[str, VaultKey] = {}

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        entry = self._store.vault.get(key)
        if entry is None or self._policies.step(entry, self._clock.now()) != "refresh":
            return await super().merchant_token(key, resource)
        if self._refreshing.setdefault(resource.id, key) != key:
            return Refusal(status=409, error="busy", description="a refresh is running")
        try:
            return await super().merchant_token(key, resource)
        finally:
            self._refreshing.pop(resource.id, None)


DEFECTS = (
    defect(
        "state-unescaped-for-a-known-agent (AUTHZ-02): From the second authorization of an agent on, the "
        "redirect has the state unescaped.",
        **unescaped_for_a_known_agent(),
    ),
    defect(
        "approval-in-some-processes (AUTHZ-08): One in five authorizations of an approved agent finds it "
        "Pending.",
        **stale_in_one_process(),
    ),
    defect(
        "refreshed-token-has-the-agents-id-alone (CLAIM-07): After a refresh, `ext.agent` has only the "
        "client ID.",
        access_token_claims=agent_by_its_id_after_a_refresh,
    ),
    defect(
        "reauthentication-without-a-refresh-token (VAULT-05): Redemption answers 410 for every merchant "
        "token that came without a refresh token.",
        step=refresh_token_first,
    ),
    defect(
        "proxy-token-by-any-grant (CODE-17): A Proxy client gets a token by every grant type that is not "
        "an agent's.",
        token_fields=other_grants_are_the_machines,
    ),
    defect(
        "one-refresh-per-resource (ROBUST-05): The gateway refuses a redemption that needs a refresh while "
        "it refreshes another user's merchant token.",
        vault_factory=OneRefreshPerResource,
    ),
)
