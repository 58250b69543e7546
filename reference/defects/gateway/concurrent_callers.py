"""Gateways that refuse a request while another one with the same credential is running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import CodeCheck, CodeFacts, CodeRefused
from gateproof.reference.gateway.records import Code
from gateproof.reference.gateway.store import Expiring
from gateproof.reference.ids import fingerprint

# The duration of a database query.
QUERY_S = 0.01
_REDEMPTION = "/api/credentials/token"
_CONFLICT = 409


def one_redemption_a_proxy_token() -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Answers 409 to a redemption whose Proxy token is in use by another one."""
    in_use: set[str] = set()

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            token = dict(scope["headers"]).get(b"x-proxy-token")
            if token is None or not scope["path"].endswith(_REDEMPTION):
                await app(scope, receive, send)
                return
            key = fingerprint(token.decode("latin-1"))
            if key in in_use:
                await send({"type": "http.response.start", "status": _CONFLICT, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            in_use.add(key)
            try:
                await asyncio.sleep(QUERY_S)
                await app(scope, receive, send)
            finally:
                in_use.discard(key)

        return guarded

    return around


def one_exchange_an_agent() -> SpendCode:
    """Locks the agent's row without waiting; an exchange that finds it locked gets invalid_grant."""
    locked: set[str] = set()

    async def spend(
        codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
    ) -> Code | CodeRefused:
        if facts.agent.id in locked:
            return await code_exchange.spend_code(codes, "", checks, facts)
        locked.add(facts.agent.id)
        try:
            await asyncio.sleep(QUERY_S)
            return await code_exchange.spend_code(codes, key, checks, facts)
        finally:
            locked.discard(facts.agent.id)

    return spend


DEFECTS = (
    defect(
        "one-redemption-at-a-time (PROXY-06 REDEEM-06): While a redemption with a Proxy token runs, another "
        "one with the same Proxy token gets 409.",
        around=one_redemption_a_proxy_token(),
    ),
    defect(
        "one-exchange-at-a-time (CODE-01): While an agent exchanges a code, its other codes are refused as "
        "unknown.",
        spend_code=one_exchange_an_agent(),
    ),
)
