"""Gateways that refuse some of many concurrent requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway

# How long a request holds the limited resource.
HOLDS_S = 0.15
# How long a request waits for a connection.
WAITS_S = 0.8


def at_most(
    number: int, status: int, error: str, concerned: Callable[[str], bool] = lambda _path: True
) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """A request gets this error while so many are being handled, by the API and the core host together."""
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


def two_connections(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Each request needs one of two connections, and waits for it as long as about ten requests take."""
    free: list[asyncio.Semaphore] = []

    async def pooled(scope: Scope, receive: Receive, send: Send) -> None:
        if not free:
            free.append(asyncio.Semaphore(2))
        try:
            await asyncio.wait_for(free[0].acquire(), WAITS_S)
        except TimeoutError:
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        try:
            await asyncio.sleep(HOLDS_S)
            await app(scope, receive, send)
        finally:
            free[0].release()

    return pooled


def not_beside_registrations(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """A registration locks the table of agents; a redemption that finds it locked gets 500."""
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
        "pool-of-fourteen (ROBUST-05): The gateway answers 500 while it is handling 14 other requests.",
        around=at_most(14, 500, "server_error"),
    ),
    defect(
        "pool-of-two-connections (ROBUST-05): The gateway answers 500 if a request waited too long for one "
        "of two database connections.",
        around=two_connections,
    ),
    defect(
        "registrations-of-a-crowd-refused (ROBUST-05): The gateway refuses a registration with 409 while it "
        "is handling 14 others.",
        around=at_most(14, 409, "conflict", ending_in("/api/register")),
    ),
    defect(
        "exchanges-of-a-crowd-refused (ROBUST-05): The gateway refuses a token request with invalid_grant "
        "while it is handling 14 others.",
        around=at_most(14, 400, "invalid_grant", ending_in("/oauth2/token")),
    ),
    defect(
        "redemptions-of-a-crowd-refused (ROBUST-05): The gateway refuses a redemption with 401 while it is "
        "handling 14 others.",
        around=at_most(14, 401, "invalid_token", ending_in("/api/credentials/token")),
    ),
    defect(
        "sign-ins-of-a-crowd-lost (ROBUST-05): The gateway answers 400 to a callback from the merchant "
        "while it is handling six others.",
        around=at_most(6, 400, "invalid_request", ending_in("/sign-in/callback")),
    ),
    defect(
        "redemptions-fail-beside-registrations (ROBUST-05): The gateway answers 500 to a redemption while "
        "it is handling a registration.",
        around=not_beside_registrations,
    ),
)
