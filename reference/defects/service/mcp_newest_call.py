"""MCP services that find the client of an answer by its session alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION

_WAITS_S = 4.0
_SILENT: list[Message] = [
    {"type": "http.response.start", "status": 202, "headers": []},
    {"type": "http.response.body", "body": b""},
]
Messages = list[Message]


def sent_to_the_newest(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """`session.response = response`: a second call gets the answer to the first one."""
    streams: dict[bytes, asyncio.Future[Messages]] = {}

    async def around(scope: Scope, receive: Receive, send: Send) -> None:
        body = await receive()
        session, number = dict(scope["headers"]).get(SESSION.encode(), b""), _number(body.get("body", b""))
        if not session or number is None or body.get("more_body"):
            await app(scope, _again(body, receive), send)
            return
        own = streams[session] = asyncio.get_running_loop().create_future()
        answer: Messages = []

        async def keep(message: Message) -> None:
            answer.append(message)

        await app(scope, _again(body, receive), keep)
        if not (found := streams[session]).done():
            found.set_result(answer)
        await asyncio.wait({own}, timeout=_WAITS_S)
        for message in own.result() if own.done() else _SILENT:
            await send(message)

    return around


def _again(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _number(body: bytes) -> Any:
    """The ID of a call of a tool; None for other messages."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    calls = isinstance(message, dict) and message.get("method") == "tools/call"
    number = message.get("id") if calls else None
    return number if isinstance(number, int) else None


DEFECTS = (
    mcp_defect(
        "answers-sent-to-the-newest-call (BACK-10): In a session, an answer goes to the newest call, also "
        "if that is a call of another user.",
        around=sent_to_the_newest,
    ),
)
