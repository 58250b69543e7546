"""Gateways that do for one caller what they turn another down for at the same moment."""

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

# What a query to a database takes.
QUERY_S = 0.01
_REDEMPTION = "/api/credentials/token"
_CONFLICT = 409


def one_redemption_a_proxy_token() -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Whoever comes with a Proxy token that is in use is told so, and sent away."""
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
    """The agent's row is locked without waiting, and who finds it locked is told that the code is no good."""
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
        "one-redemption-at-a-time (PROXY-06 REDEEM-06): While a Proxy token redeems, whoever comes with the "
        "same one is turned down.",
        around=one_redemption_a_proxy_token(),
    ),
    defect(
        "one-exchange-at-a-time (CODE-01): While a code of an agent's is exchanged, its other codes are no "
        "good.",
        spend_code=one_exchange_an_agent(),
    ),
)
