"""The operation as an MCP tool over streamable HTTP; the token is validated before."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

# Supported protocol versions, the newest first.
PROTOCOLS = ("2025-06-18", "2025-03-26")
MOST_SESSIONS = 1000
SESSION = "mcp-session-id"
TOOL = {
    "name": "list_orders",
    "description": "Lists the user's orders.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
}
# The orders of the caller, or the HTTP answer that refuses them.
Orders = Callable[[], Awaitable[list[Any] | Response]]


class Mcp:
    """Sessions, and the methods initialize, tools/list and tools/call."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, None] = OrderedDict()

    async def answer(self, request: Request, orders: Orders) -> Response:
        """The answer to one message of a caller with a valid token."""
        session = request.headers.get(SESSION, "")
        if request.method == "DELETE":
            self._sessions.pop(session, None)
            return Response(status_code=204)
        if request.method != "POST":
            return Response(status_code=405, headers={"allow": "POST, DELETE"})
        message = _message(await request.body())
        if message is None:
            return _failed(None, -32700, "expected one JSON-RPC message", status=400)
        if message.get("method") == "initialize":
            return self._met(message)
        if session not in self._sessions:
            return _failed(message.get("id"), -32001, "no such session: initialize first", status=404)
        return await _done(message, orders)

    def _met(self, message: dict[str, Any]) -> Response:
        params = message.get("params")
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        session = secrets.token_urlsafe(24)
        self._sessions[session] = None
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        result: dict[str, Any] = {
            "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "reference service", "version": "1"},
        }
        return _result(message.get("id"), result, {SESSION: session})


async def _done(message: dict[str, Any], orders: Orders) -> Response:
    number = message.get("id")
    if number is None:
        return Response(status_code=202)
    match message.get("method"):
        case "ping":
            return _result(number, {})
        case "tools/list":
            return _result(number, {"tools": [TOOL]})
        case "tools/call":
            return await _called(number, message.get("params"), orders)
        case _:
            return _failed(number, -32601, "no such method")


async def _called(number: Any, params: Any, orders: Orders) -> Response:
    if not isinstance(params, dict) or params.get("name") != TOOL["name"]:
        return _failed(number, -32602, "no such tool")
    found = await orders()
    if isinstance(found, Response):
        return found
    text = json.dumps({"orders": found})
    return _streamed(number, {"content": [{"type": "text", "text": text}], "isError": False})


def _message(body: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None


def _result(number: Any, result: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    return _json({"jsonrpc": "2.0", "id": number, "result": result}, 200, headers)


def _failed(number: Any, code: int, what: str, *, status: int = 200) -> Response:
    return _json({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": what}}, status)


def _streamed(number: Any, result: dict[str, Any]) -> Response:
    """The answer as an event stream with a single event."""
    data = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
    return Response(
        f"event: message\ndata: {data}\n\n", 200, {"cache-control": "no-store"}, "text/event-stream"
    )


def _json(document: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> Response:
    kept = {"cache-control": "no-store", **(headers or {})}
    return Response(json.dumps(document), status, kept, "application/json")
