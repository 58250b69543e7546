"""MCP services in which a client can cancel the calls of other clients."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.service.backend import Backend

_GONE: tuple[Message, ...] = (
    {"type": "http.response.start", "status": 202, "headers": []},
    {"type": "http.response.body", "body": b""},
)


def cancelled_by_number(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """`inflight.get(params.requestId)?.abort()`, in one map for all sessions."""
    running: dict[Any, asyncio.Task[None]] = {}

    async def around(scope: Scope, receive: Receive, send: Send) -> None:
        body = await receive()
        message = _message(body.get("body", b""))
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            task = running.get(str(params.get("requestId")))
            if task is not None:
                task.cancel()
        if message.get("method") != "tools/call" or body.get("more_body"):
            await app(scope, _again(body, receive), send)
            return
        number = str(message.get("id"))
        task = running[number] = asyncio.ensure_future(app(scope, _again(body, receive), send))
        try:
            await task
        except asyncio.CancelledError:
            for each in _GONE:
                await send(each)
        finally:
            if running.get(number) is task:
                del running[number]

    return around


def _again(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


DEFECTS = (
    mcp_defect(
        "requests-cancelled-by-number (SERVE-01): A client that cancels a request ends every call with the "
        "same request ID, also those of other users.",
        around=cancelled_by_number,
    ),
)
