"""Gateways whose ID tokens are about another user, or have claims that an OpenID library refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.token_claims import TokenFacts, id_token_claims
from gateproof.reference.outcomes import JsonObject

Told = Callable[[TokenFacts], JsonObject]
_OF_THE_USER = ("sub", "preferred_username", "email", "auth_time")


def of_the_agents_first_user() -> Told:
    """Looks up the claims about the user only once per agent."""
    known: dict[str, JsonObject] = {}

    def told(facts: TokenFacts) -> JsonObject:
        honest = id_token_claims(facts)
        about = {name: honest[name] for name in _OF_THE_USER if name in honest}
        return honest | known.setdefault(facts.agent.id, about)

    return told


def of_the_agents_newest_grant() -> dict[str, Any]:
    """The ID token is about the user who authorized the agent last."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def told(facts: TokenFacts) -> JsonObject:
        grants = [each for each in held[0].store.grants.values() if each.agent_id == facts.agent.id]
        return id_token_claims(replace(facts, grant=grants[-1] if grants else facts.grant))

    return {"around": around, "id_token_claims": told}


def with_the_first_nonce() -> Told:
    nonces: dict[str, str | None] = {}

    def told(facts: TokenFacts) -> JsonObject:
        honest = id_token_claims(facts)
        nonce = facts.grant.nonce and nonces.setdefault(facts.agent.id, facts.grant.nonce)
        return honest | ({"nonce": nonce} if nonce else {})

    return told


def at_a_refresh(change: Told) -> Told:
    def told(facts: TokenFacts) -> JsonObject:
        refreshed = facts.request.value("grant_type") == "refresh_token"
        return id_token_claims(facts) | (change(facts) if refreshed else {})

    return told


DEFECTS = (
    defect(
        "id-token-of-the-agents-first-user (CLAIM-11): The ID tokens of an agent are always about its first "
        "user.",
        id_token_claims=of_the_agents_first_user(),
    ),
    defect(
        "id-token-of-the-agents-newest-user (CLAIM-11): The ID tokens of an agent are always about the user "
        "who authorized it last.",
        **of_the_agents_newest_grant(),
    ),
    defect(
        "id-token-issued-by-the-resource (CLAIM-11): The `iss` of the ID token is the Resource's "
        "authorization server.",
        id_token_claims=lambda facts: id_token_claims(facts) | {"iss": f"{facts.issuer}/{facts.resource.id}"},
    ),
    defect(
        "id-token-without-an-end (CLAIM-11): The ID token has no `exp`.",
        id_token_claims=lambda facts: without_members(id_token_claims(facts), "exp"),
    ),
    defect(
        "id-token-begins-in-local-time (CLAIM-11): The ID token's `nbf` is a local time, two hours ahead of "
        "UTC.",
        id_token_claims=lambda facts: id_token_claims(facts) | {"nbf": int(facts.now + 7200)},
    ),
    defect(
        "id-token-issued-in-milliseconds (CLAIM-11): The ID token's `iat` is in milliseconds.",
        id_token_claims=lambda facts: id_token_claims(facts) | {"iat": int(facts.now * 1000)},
    ),
    defect(
        "nonce-in-lower-case (CLAIM-11): The ID token has the nonce of the request in lower case.",
        id_token_claims=lambda facts: (
            id_token_claims(facts) | ({"nonce": facts.grant.nonce.lower()} if facts.grant.nonce else {})
        ),
    ),
    defect(
        "nonce-of-the-first-request (CLAIM-11): The ID token has the nonce of the agent's first request.",
        id_token_claims=with_the_first_nonce(),
    ),
    defect(
        "id-token-of-a-refresh-has-expired (CLAIM-11): The ID token of a refresh is already expired.",
        id_token_claims=at_a_refresh(lambda facts: {"exp": int(facts.now) - 10}),
    ),
    defect(
        "id-token-of-a-refresh-with-another-sub (CLAIM-11): The ID token of a refresh has another `sub`.",
        id_token_claims=at_a_refresh(lambda facts: {"sub": f"sub_{facts.jti}"}),
    ),
)
