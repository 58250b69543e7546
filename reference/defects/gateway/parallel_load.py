"""Gateways that serve single callers well, and turn some of a crowd away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway

# How long a request holds what there is little of.
HOLDS_S = 0.15


def at_most(
    number: int, status: int, error: str, concerned: Callable[[str], bool] = lambda _path: True
) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Whoever comes while so many are being served, at either host, gets this answer."""
    served = 0

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def limited(scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal served
            if not concerned(scope["path"]):
                await app(scope, receive, send)
                return
            if served >= number:
                headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})
                return
            served += 1
            try:
                await asyncio.sleep(HOLDS_S)
                await app(scope, receive, send)
            finally:
                served -= 1

        return limited

    return around


def not_beside_registrations(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """A registration locks the table of agents, and a redemption that finds it locked gives up."""
    registering = 0

    async def locking(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal registering
        if scope["path"].endswith("/api/register"):
            registering += 1
            try:
                await asyncio.sleep(HOLDS_S)
                await app(scope, receive, send)
            finally:
                registering -= 1
        elif scope["path"].endswith("/api/credentials/token") and registering:
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    return locking


def ending_in(*ends: str) -> Callable[[str], bool]:
    return lambda path: path.endswith(ends)


DEFECTS = (
    defect(
        "pool-of-fourteen (ROBUST-05): Whoever comes while fourteen others are served gets 500.",
        around=at_most(14, 500, "server_error"),
    ),
    defect(
        "registrations-of-a-crowd-refused (ROBUST-05): A registration beside fourteen others is refused.",
        around=at_most(14, 409, "conflict", ending_in("/api/register")),
    ),
    defect(
        "exchanges-of-a-crowd-refused (ROBUST-05): A token request beside fourteen others is refused as "
        "invalid_grant.",
        around=at_most(14, 400, "invalid_grant", ending_in("/oauth2/token")),
    ),
    defect(
        "redemptions-of-a-crowd-refused (ROBUST-05): A redemption beside fourteen others is refused.",
        around=at_most(14, 401, "invalid_token", ending_in("/api/credentials/token")),
    ),
    defect(
        "sign-ins-of-a-crowd-lost (ROBUST-05): A user who comes back from the merchant beside six others is "
        "told to start again.",
        around=at_most(6, 400, "invalid_request", ending_in("/sign-in/callback")),
    ),
    defect(
        "redemptions-fail-beside-registrations (ROBUST-05): A redemption while somebody registers gets 500.",
        around=not_beside_registrations,
    ),
)
