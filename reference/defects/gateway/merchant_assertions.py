"""Gateways whose assertions to the merchant can be used at another server or more than once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.records import Agent, Grant, Resource
from gateproof.reference.outcomes import JsonObject

OTHER = "https://login.other-merchant.example"
LIFE_S = 240

Change = Callable[[JsonObject, float], JsonObject]


def about_users(change: Change) -> Callable[[Grant, Agent, Resource, str, float], dict[str, Any]]:
    def assertion(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
        return change(vault.user_assertion(grant, agent, resource, jti, now), now)

    return assertion


def about_the_client(change: Change) -> Callable[[Resource, str, float], dict[str, Any]]:
    return lambda resource, jti, now: change(vault.client_assertion(resource, jti, now), now)


def for_another_too(claims: JsonObject, _now: float) -> JsonObject:
    return claims | {"aud": [claims["aud"], OTHER]}


def for_anybody(claims: JsonObject, _now: float) -> JsonObject:
    return claims | {"aud": [claims["aud"], "*"]}


def numbered_by_the_minute(claims: JsonObject, now: float) -> JsonObject:
    return claims | {"jti": f"{claims['iss']}-{int(now // 60)}"}


def reused_during_its_lifetime() -> Callable[[Resource, str, float], dict[str, Any]]:
    """Reuses a client assertion during its lifetime."""
    kept: dict[str, tuple[float, JsonObject]] = {}

    def assertion(resource: Resource, jti: str, now: float) -> dict[str, Any]:
        made_at, claims = kept.get(resource.id, (float("-inf"), {}))
        if now < made_at + LIFE_S:
            return claims
        fresh = vault.client_assertion(resource, jti, now)
        kept[resource.id] = (now, fresh)
        return fresh

    return assertion


DEFECTS = (
    defect(
        "user-assertions-for-another-merchant-too (VAULT-12): The audience of the user assertion also "
        "contains another authorization server.",
        user_assertion=about_users(for_another_too),
    ),
    defect(
        "client-assertions-for-another-merchant-too (VAULT-12): The audience of the client assertion also "
        "contains another authorization server.",
        client_assertion=about_the_client(for_another_too),
    ),
    defect(
        "client-assertions-for-anybody (VAULT-12): The audience of the client assertion also contains an "
        "asterisk.",
        client_assertion=about_the_client(for_anybody),
    ),
    defect(
        "client-assertions-without-an-id (VAULT-12): The client assertion has no jti.",
        client_assertion=about_the_client(lambda claims, _: without_members(claims, "jti")),
    ),
    defect(
        "client-assertions-kept (VAULT-12): The gateway reuses a client assertion for four minutes.",
        client_assertion=reused_during_its_lifetime(),
    ),
    defect(
        "client-assertions-numbered-by-the-minute (VAULT-12): The jti of a client assertion is the same for "
        "all of one minute.",
        client_assertion=about_the_client(numbered_by_the_minute),
    ),
)
