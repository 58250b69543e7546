"""Gateways that accept a refresh token from another client, or for scopes that were not granted."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange, proxy, token_claims
from gateproof.reference.gateway.policy.code_exchange import (
    AgentCredentials,
    AgentFacts,
    RefreshFacts,
    TokenRequestFacts,
)
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

_TRUSTED: ContextVar[bool] = ContextVar("trusted", default=False)
_REFRESHING: ContextVar[bool] = ContextVar("refreshing", default=False)


def anybodys_refresh_token(facts: RefreshFacts) -> Refusal | None:
    """Checks everything except the agent of the refresh token."""
    token, grant = facts.token, facts.grant
    good = token is not None and grant is not None and not grant.revoked
    if good and token is not None and not token.spent and facts.now < token.expires_at:
        return None
    return code_exchange.refresh_token_is_good(facts)


def says_what_for(facts: TokenRequestFacts) -> Refusal | None:
    _REFRESHING.set(facts.value("grant_type") == "refresh_token")
    return None


def secret_is_right_for_a_code(facts: AgentFacts) -> Refusal | None:
    return None if _REFRESHING.get() else code_exchange.agent_secret_is_right(facts)


def for_proxy_clients() -> dict[str, Any]:
    """Any authenticated client may refresh, even a Proxy client."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        honest = code_exchange.agent_credentials(facts)
        if facts.value("grant_type") != "refresh_token" or not isinstance(honest, Refusal):
            return honest
        store, found = held[0].store, proxy.proxy_credentials(facts)
        client = None if isinstance(found, Refusal) else proxy.proxy_client_named(store, found)
        token = store.refresh_tokens.get(fingerprint(facts.value("refresh_token")))
        if client is None or token is None or isinstance(found, Refusal):
            return honest
        if client.secret != fingerprint(found.secret):
            return honest
        _TRUSTED.set(True)
        return AgentCredentials(client_id=token.agent_id, secret=facts.value("refresh_token"))

    def secret_is_right(facts: AgentFacts) -> Refusal | None:
        return None if _TRUSTED.get() else code_exchange.agent_secret_is_right(facts)

    return {
        "around": around,
        "token_request_checks": (forgets, *code_exchange.TOKEN_REQUEST_CHECKS),
        "agent_credentials": credentials,
        "agent_checks": instead(
            code_exchange.AGENT_CHECKS, code_exchange.agent_secret_is_right, secret_is_right
        ),
    }


def without_a_client() -> dict[str, Any]:
    """Without a secret, the refresh token alone identifies and authenticates the agent."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        token = held[0].store.refresh_tokens.get(fingerprint(facts.value("refresh_token")))
        if token is None or facts.value("client_secret") or facts.authorization is not None:
            return code_exchange.agent_credentials(facts)
        _TRUSTED.set(True)
        return AgentCredentials(client_id=token.agent_id, secret=facts.value("refresh_token"))

    return {**for_proxy_clients(), "around": around, "agent_credentials": credentials}


def forgets(_facts: TokenRequestFacts) -> Refusal | None:
    _TRUSTED.set(False)
    return None


def any_scope_of_the_resource() -> dict[str, Any]:
    """Compares the scopes of a refresh with those of the Resource instead of the grant."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def asks_for_no_more(facts: RefreshFacts) -> Refusal | None:
        resource = held[0].store.resources.get(facts.grant.resource_id) if facts.grant is not None else None
        known = {"openid", REDEMPTION_SCOPE, *(resource.scopes if resource is not None else ())}
        return None if set(facts.scopes) <= known else code_exchange.refresh_asks_for_no_more(facts)

    return {
        "around": around,
        "refresh_checks": instead(
            code_exchange.REFRESH_CHECKS, code_exchange.refresh_asks_for_no_more, asks_for_no_more
        ),
    }


def with_all_scopes(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    """Lists all scopes of the Resource in the answer to a refresh without scope."""
    honest = token_claims.token_answer(facts, tokens)
    if facts.request.value("grant_type") != "refresh_token" or facts.request.value("scope"):
        return honest
    return honest | {"scope": " ".join(("openid", *facts.resource.scopes, REDEMPTION_SCOPE))}


DEFECTS = (
    defect(
        "refreshed-for-whoever-names-no-secret (CODE-16 ROBUST-04): The gateway does not authenticate a "
        "refresh that has no client secret.",
        **without_a_client(),
    ),
    defect(
        "refreshed-for-proxy-clients (CODE-16): The gateway refreshes an agent's tokens for a Proxy client "
        "that sends the agent's refresh token.",
        **for_proxy_clients(),
    ),
    defect(
        "refreshed-with-any-scope-of-the-resource (CODE-16): A refresh can request every scope of the "
        "Resource, even if it was not granted.",
        **any_scope_of_the_resource(),
    ),
    defect(
        "refreshed-with-all-scopes-of-the-resource (CODE-16): The answer to a refresh without scope lists "
        "all scopes of the Resource as granted.",
        token_answer=with_all_scopes,
    ),
    defect(
        "refresh-tokens-of-everybody (CODE-16 ROBUST-04): The gateway accepts a refresh token from any "
        "agent.",
        refresh_checks=instead(
            code_exchange.REFRESH_CHECKS, code_exchange.refresh_token_is_good, anybodys_refresh_token
        ),
    ),
    defect(
        "refreshed-without-the-secret (CODE-16 ROBUST-04): The gateway does not compare the client secret "
        "at a refresh.",
        token_request_checks=(says_what_for, *code_exchange.TOKEN_REQUEST_CHECKS),
        agent_checks=instead(
            code_exchange.AGENT_CHECKS, code_exchange.agent_secret_is_right, secret_is_right_for_a_code
        ),
    ),
)
