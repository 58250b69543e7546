"""Gateways that store codes and tokens in one table and do not check their kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jwt
from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange, proxy
from gateproof.reference.gateway.policy.code_exchange import (
    REFRESH_TOKEN_LIFETIME_S,
    AgentCredentials,
    TokenRequestFacts,
    challenge_of,
)
from gateproof.reference.gateway.records import Code, RefreshToken
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import Refusal

# Changes the gateway's tables before a token request is answered.
Before = Callable[[Gateway, TokenRequestFacts, float], None]


def beforehand(change: Before) -> dict[str, Any]:
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def changed(facts: TokenRequestFacts) -> Refusal | None:
        change(held[0], facts, held[0].clock.now())
        return None

    return {
        "around": around,
        "token_request_checks": (*code_exchange.TOKEN_REQUEST_CHECKS, changed),
    }


def _may_refresh(gateway: Gateway, token: str, grant_id: str, now: float) -> None:
    grant = gateway.store.grants.get(grant_id)
    if grant is None or gateway.store.refresh_tokens.get(fingerprint(token)) is not None:
        return
    record = RefreshToken(
        grant_id=grant_id, agent_id=grant.agent_id, expires_at=now + REFRESH_TOKEN_LIFETIME_S
    )
    gateway.store.refresh_tokens.add(fingerprint(token), record, now)


def codes_refresh(*, spent: bool) -> Before:
    def change(gateway: Gateway, facts: TokenRequestFacts, now: float) -> None:
        token = facts.value("refresh_token")
        code = gateway.store.codes.get(fingerprint(token))
        if code is not None and code.spent == spent:
            _may_refresh(gateway, token, code.grant_id, now)

    return change


def refresh_tokens_are_codes(gateway: Gateway, facts: TokenRequestFacts, now: float) -> None:
    """Turns a refresh token into a code that accepts any verifier and redirect URI."""
    key = fingerprint(facts.value("code"))
    token = gateway.store.refresh_tokens.get(key)
    if token is None or token.spent:
        return
    gateway.store.refresh_tokens.change(key, replace(token, spent=True))
    code = Code(
        grant_id=token.grant_id,
        agent_id=token.agent_id,
        redirect_uri=facts.value("redirect_uri"),
        challenge=challenge_of(facts.value("code_verifier")),
        expires_at=now + code_exchange.CODE_LIFETIME_S,
    )
    gateway.store.codes.add(key, code, now)


def access_tokens_refresh(gateway: Gateway, facts: TokenRequestFacts, now: float) -> None:
    token = facts.value("refresh_token")
    grant_id = gateway.store.access_tokens.get(str(_claims(token).get("jti")))
    if grant_id is not None:
        _may_refresh(gateway, token, grant_id, now)


def id_tokens_refresh(gateway: Gateway, facts: TokenRequestFacts, now: float) -> None:
    token = facts.value("refresh_token")
    claims = _claims(token)
    for grant in list(gateway.store.grants.values()):
        if grant.agent_id == claims.get("aud") and grant.sub == claims.get("sub"):
            _may_refresh(gateway, token, grant.id, now)


def _claims(token: str) -> dict[str, Any]:
    try:
        return jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return {}


def basic_for_refreshes(*, named: bool) -> Callable[[TokenRequestFacts], AgentCredentials | Refusal]:
    """Accepts HTTP Basic from agents for refreshes; with `named` only if the form has the client ID."""

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        found = proxy.proxy_credentials(facts)
        refreshes = facts.value("grant_type") == "refresh_token" and not facts.value("client_secret")
        if isinstance(found, Refusal) or not refreshes:
            return code_exchange.agent_credentials(facts)
        if named and facts.value("client_id") != found.client_id:
            return code_exchange.agent_credentials(facts)
        return AgentCredentials(client_id=found.client_id, secret=found.secret)

    return credentials


DEFECTS = (
    defect(
        "unused-codes-refresh (CODE-06): The gateway accepts an unused code as a refresh token.",
        **beforehand(codes_refresh(spent=False)),
    ),
    defect(
        "used-codes-refresh (CODE-06): The gateway accepts a used code as a refresh token.",
        **beforehand(codes_refresh(spent=True)),
    ),
    defect(
        "refresh-tokens-exchanged-as-codes (CODE-04): The gateway accepts a refresh token as a code, with "
        "any verifier.",
        **beforehand(refresh_tokens_are_codes),
    ),
    defect(
        "access-tokens-refresh (CODE-16): The gateway accepts an access token as a refresh token.",
        **beforehand(access_tokens_refresh),
    ),
    defect(
        "id-tokens-refresh (CODE-16): The gateway accepts an ID token as a refresh token.",
        **beforehand(id_tokens_refresh),
    ),
    defect(
        "refreshes-by-basic (CODE-09): The gateway accepts HTTP Basic from agents for refreshes.",
        agent_credentials=basic_for_refreshes(named=False),
    ),
    defect(
        "refreshes-by-basic-with-a-name (CODE-09): The gateway accepts HTTP Basic from agents for refreshes "
        "if the form has the same client ID.",
        agent_credentials=basic_for_refreshes(named=True),
    ),
)
