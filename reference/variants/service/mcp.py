"""Other legal ways to be an MCP server."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.doubles.compact_jws import parsed_jwt
from gateproof.reference.defects.service.mcp_refreshed import bound_to_first_token
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION
from gateproof.reference.variants.variant import mcp_variant

_SESSION = SESSION.encode()
_JSON = (("content-type", "application/json"),)
MOST_SESSIONS = 40
OLDER = "2025-03-26"


def _method(asked: Asked) -> Any:
    """The method of the message in a request."""
    try:
        message = json.loads(asked.body)
    except (ValueError, RecursionError):
        return None
    return message.get("method") if isinstance(message, dict) else None


def _changing(change: Callable[[Asked, Answered], Answered]) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """Changes the answers of the MCP endpoint only."""

    def told(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        return change(asked, answered) if asked.path == "/mcp" else answered

    return altering_answers(told)


def _not_for_strangers(asked: Asked, answered: Answered) -> Answered:
    """Answers a GET or DELETE without a token in a session, without any effect."""
    if SESSION not in asked.headers or "authorization" in asked.headers:
        return answered
    match asked.method:
        case "GET":
            return Answered(status=405, headers=(("allow", "POST"),), body=b"")
        case "DELETE":
            return Answered(status=202, headers=(), body=b"")
        case _:
            return answered


def _room_for_some() -> Callable[[Asked, Answered], Answered]:
    sessions: set[str] = set()

    def change(asked: Asked, answered: Answered) -> Answered:
        if asked.method == "DELETE" and answered.status == 204:
            sessions.discard(asked.headers.get(SESSION, ""))
        begun = answered.header(SESSION)
        if not begun:
            return answered
        if len(sessions) >= MOST_SESSIONS:
            return Answered(status=503, headers=_JSON, body=b'{"error": "too many open sessions"}')
        sessions.add(begun)
        return answered

    return change


def _in_json(_asked: Asked, answered: Answered) -> Answered:
    if not answered.header("content-type").startswith("text/event-stream"):
        return answered
    data = next(line for line in answered.body.split(b"\n") if line.startswith(b"data: "))
    return replace(answered, headers=_JSON, body=data.removeprefix(b"data: "))


def _after_notices(_asked: Asked, answered: Answered) -> Answered:
    """Sends a comment, an event without data, a log message, and the answer in several lines."""
    if not answered.header("content-type").startswith("text/event-stream"):
        return answered
    data = next(line for line in answered.body.split(b"\n") if line.startswith(b"data: "))
    message = json.loads(data.removeprefix(b"data: "))
    note = {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "data": "listing"},
    }
    lines = "\r\n".join(f"data: {line}" for line in json.dumps(message, indent=1).splitlines())
    events = (": welcome", "id: 0\r\nretry: 500\r\ndata:", f"data: {json.dumps(note)}", f"id: 2\r\n{lines}")
    text = "".join(f"{event}\r\n\r\n" for event in events)
    return replace(answered, body=text.encode())


def _errors_of_the_tool(asked: Asked, answered: Answered) -> Answered:
    """Returns failures behind the tool as its result; a 401 stays a 401."""
    if answered.status in {200, 401} or _method(asked) != "tools/call":
        return answered
    result = {"content": [{"type": "text", "text": "the orders cannot be had"}], "isError": True}
    said = {"jsonrpc": "2.0", "id": json.loads(asked.body).get("id"), "result": result}
    return Answered(status=200, headers=_JSON, body=json.dumps(said).encode())


def _older(asked: Asked, answered: Answered) -> Answered:
    if _method(asked) != "initialize" or answered.status != 200:
        return answered
    said = json.loads(answered.body)
    said["result"]["protocolVersion"] = OLDER
    return replace(answered, body=json.dumps(said).encode())


def _not_to_be_ended(asked: Asked, answered: Answered) -> Answered:
    return replace(answered, status=405) if asked.method == "DELETE" and answered.status == 204 else answered


def _without_sessions(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """Sends no session ID to clients, and serves all of them in one internal session."""
    own: list[bytes] = []

    async def nameless(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [pair for pair in scope["headers"] if pair[0] != _SESSION]
        headers += [(_SESSION, own[-1])] if own else []

        async def unnamed(message: Message) -> None:
            given = message.get("headers", ())
            own[:] = [value for name, value in given if name.lower() == _SESSION][-1:] or own
            kept = [pair for pair in given if pair[0].lower() != _SESSION]
            await send({**message, "headers": kept} if "headers" in message else message)

        ended = scope["path"] == "/mcp" and scope["method"] == "DELETE"
        await app({**scope, "headers": headers, **({"method": "PUT"} if ended else {})}, receive, unnamed)

    return nameless


def _claim(asked: Asked, name: str) -> Any:
    """A claim of the token in the request; None if there is none."""
    parsed = parsed_jwt(asked.headers.get("authorization", "").partition(" ")[2])
    return None if parsed is None else parsed.claims.get(name)


def _while_its_token_lives() -> Callable[[Asked, Answered], Answered]:
    """Looks a session up before it looks at the token; it ends when the token that began it expires."""
    ends: dict[str, float] = {}

    def change(asked: Asked, answered: Answered) -> Answered:
        if begun := answered.header(SESSION):
            ends[begun] = float(_claim(asked, "exp") or 0)
        if ends.get(asked.headers.get(SESSION, ""), math.inf) < time.time():
            return Answered(status=404, headers=_JSON, body=b'{"error": "no such session"}')
        return answered

    return change


def _newest_of_the_user() -> Callable[[Asked, Answered], Answered]:
    """A new session of a user ends the one before."""
    newest: dict[Any, str] = {}
    ended: set[str] = set()

    def change(asked: Asked, answered: Answered) -> Answered:
        if begun := answered.header(SESSION):
            user = _claim(asked, "sub")
            ended.update({newest[user]} if user in newest else ())
            newest[user] = begun
        if asked.headers.get(SESSION, "") in ended and answered.status < 300:
            return Answered(status=404, headers=_JSON, body=b'{"error": "no such session"}')
        return answered

    return change


def _of_one_user(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """Accepts a session ID only from the user who started the session."""
    users: dict[bytes, str] = {}

    async def kept_apart(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        user, session = _subject(headers.get(b"authorization", b"")), headers.get(_SESSION, b"")
        if users.get(session, user) != user:
            rest = [pair for pair in scope["headers"] if pair[0] != _SESSION]
            scope = {**scope, "headers": [*rest, (_SESSION, b"of-somebody-else")]}

        async def noting(message: Message) -> None:
            users.update(
                {value: user for name, value in message.get("headers", ()) if name.lower() == _SESSION}
            )
            await send(message)

        await app(scope, receive, noting)

    return kept_apart


def _subject(authorization: bytes) -> str:
    """The subject of a token that is verified later."""
    try:
        part = authorization.rpartition(b" ")[2].split(b".")[1]
        return str(json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))).get("sub"))
    except (IndexError, ValueError, AttributeError, RecursionError):
        return ""


async def _slow_to_refuse(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Refusals of a GET come after a second, against guessing."""
    if asked.method == "GET" and answered.status in {401, 405}:
        await asyncio.sleep(1.0)
    return answered


VARIANTS = (
    mcp_variant(
        "streams-refused-after-a-second: the service waits for a second before it refuses a GET",
        around=altering_answers(_slow_to_refuse),
    ),
    mcp_variant(
        "room-for-forty-sessions: the service answers 503 to a new session while forty are open",
        around=_changing(_room_for_some()),
    ),
    mcp_variant(
        "sessions-without-a-name: the service sends no session IDs, and sessions cannot be ended",
        around=_without_sessions,
    ),
    mcp_variant(
        "sessions-of-one-user: the service answers another user's session ID like an unknown one",
        around=_of_one_user,
    ),
    mcp_variant(
        "sessions-end-with-their-token: a session ends when the token that began it expires, and is then "
        "unknown",
        around=_changing(_while_its_token_lives()),
    ),
    mcp_variant(
        "one-session-of-each-user: a new session of a user ends the one before",
        around=_changing(_newest_of_the_user()),
    ),
    mcp_variant(
        "sessions-of-one-token: the service answers a session ID with 404 if it comes with another token "
        "than the session's first",
        around=altering_answers(bound_to_first_token(404)),
    ),
    mcp_variant(
        "sessions-not-to-be-ended: the service answers 405 to a request to end a session",
        around=_changing(_not_to_be_ended),
    ),
    mcp_variant(
        "strangers-told-nothing-of-a-session: in a session, the service answers 405 to a GET and 202 to a "
        "DELETE without a token, and does nothing",
        around=_changing(_not_for_strangers),
    ),
    mcp_variant(
        "answers-in-json: the service answers a call with JSON instead of a stream",
        around=_changing(_in_json),
    ),
    mcp_variant(
        "answers-after-notices: the stream of an answer begins with a comment, an empty event and a log "
        "message",
        around=_changing(_after_notices),
    ),
    mcp_variant(
        "errors-of-the-tool: the service returns failures behind the tool as its result, with isError",
        around=_changing(_errors_of_the_tool),
    ),
    mcp_variant(
        "older-protocol: the service answers with the protocol version 2025-03-26",
        around=_changing(_older),
    ),
)
