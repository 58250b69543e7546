"""Issues the three tokens of an agent."""

from __future__ import annotations

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import signed
from gateproof.reference.gateway.policy.code_exchange import REFRESH_TOKEN_LIFETIME_S, TokenRequestFacts
from gateproof.reference.gateway.policy.token_claims import ACCESS_TOKEN_TYPE, TokenFacts, Tokens
from gateproof.reference.gateway.records import Agent, Grant, RefreshToken
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal


def issue(
    gateway: Gateway,
    agent: Agent,
    grant: Grant | None,
    *,
    request: TokenRequestFacts,
    only: tuple[str, ...] = (),
) -> JsonObject | Refusal:
    """Tokens for a grant; `only` are the scopes that a refresh asked for."""
    policies, store, now = gateway.policies, gateway.store, gateway.clock.now()
    resource = store.resources.get(grant.resource_id) if grant else None
    if grant is None or grant.revoked or resource is None:
        return Refusal(status=400, error="invalid_grant", description="the grant has ended")
    facts = TokenFacts(
        issuer=gateway.issuer,
        resource=resource,
        agent=agent,
        grant=grant,
        scopes=policies.granted_scopes(only or grant.scopes, agent),
        jti=gateway.ids.identifier("jti_"),
        now=now,
        request=request,
    )
    access_key = policies.access_token_key(store.core_keys, resource.key)
    id_key = policies.id_token_key(store.core_keys, resource.key)
    tokens = Tokens(
        access_token=signed(access_key, policies.access_token_claims(facts), ACCESS_TOKEN_TYPE),
        id_token=signed(id_key, policies.id_token_claims(facts), policies.id_token_type),
        refresh_token=policies.new_refresh_token(facts, gateway.ids),
    )
    store.access_tokens.add(facts.jti, grant.id, now)
    record = RefreshToken(grant_id=grant.id, agent_id=agent.id, expires_at=now + REFRESH_TOKEN_LIFETIME_S)
    store.refresh_tokens.add(fingerprint(tokens.refresh_token), record, now)
    return policies.token_answer(facts, tokens)
