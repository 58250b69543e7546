"""Other legal ways to send an answer over a connection."""

from __future__ import annotations

import asyncio
import random
import re
import ssl
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gateproof.reference.deviations.ended_connections import ending
from gateproof.reference.serving import Listen, Listener, Origin, listen
from gateproof.reference.variants.variant import variant

CLOSED = (b"connection", b"close")
PIECE = 97
_START = b"HTTP/1.1 "
_FIELD_NAME = re.compile(rb"(?<=\r\n)[a-z0-9-]+(?=:)")

Head = Callable[[bytes], bytes]
Around = Callable[[ASGIApp], ASGIApp]


class _Rewriting:
    """A transport that rewrites the head of every answer; the server writes each head in one piece."""

    def __init__(self, transport: asyncio.Transport, head: Head) -> None:
        self._transport = transport
        self._head = head

    def write(self, octets: bytes) -> None:
        if octets.startswith(_START):
            head, end, rest = octets.partition(b"\r\n\r\n")
            octets = self._head(head) + end + rest
        self._transport.write(octets)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Speaking(HttpToolsProtocol):
    """uvicorn's HTTP protocol with rewritten heads."""

    def __init__(self, head: Head, *given: Any) -> None:
        super().__init__(*given)
        self._head = head

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast("asyncio.Transport", _Rewriting(transport, self._head)))


def _with_heads(head: Head) -> Listen:
    return partial(listen, speaking=partial(_Speaking, head))


def _behind(around: Around, listening: Listen = listen) -> Listen:
    async def listen_behind(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
        return await listening(replace(origin, app=around(origin.app)), tls, state)

    return listen_behind


def _changing(change: Callable[[Message], list[Message]]) -> Around:
    """Replaces every message of an answer by others."""

    def around(app: ASGIApp) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
            async def passed_on(message: Message) -> None:
                for each in change(message):
                    await send(each)

            await app(scope, receive, passed_on)

        return changed

    return around


def _closing(message: Message) -> list[Message]:
    if message["type"] != "http.response.start":
        return [message]
    return [{**message, "headers": [*message["headers"], CLOSED]}]


def _in_chunks(message: Message) -> list[Message]:
    """Removes the length and splits the body, so that the server has to send chunks."""
    if message["type"] == "http.response.start":
        headers = [header for header in message["headers"] if header[0].lower() != b"content-length"]
        return [{**message, "headers": headers}]
    body, more = message.get("body", b""), message.get("more_body", False)
    pieces = [body[start : start + PIECE] for start in range(0, len(body), PIECE)] or [b""]
    pending = [more or number < len(pieces) for number in range(1, len(pieces) + 1)]
    return [
        {"type": message["type"], "body": piece, "more_body": still}
        for piece, still in zip(pieces, pending, strict=True)
    ]


def _refusing_chunks(app: ASGIApp) -> ASGIApp:
    """Refuses chunked requests: a server of HTTP/1.0 sees no body in them."""

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
            headers = [(b"content-length", b"0"), CLOSED]
            await send({"type": "http.response.start", "status": 400, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await _changing(_closing)(app)(scope, receive, send)

    return refused


def _old(head: bytes) -> bytes:
    return b"HTTP/1.0 " + head.removeprefix(_START)


def _in_title_case(head: bytes) -> bytes:
    return _FIELD_NAME.sub(lambda name: name[0].title(), head)


def _in_capitals(head: bytes) -> bytes:
    return _FIELD_NAME.sub(lambda name: name[0].upper(), head)


VARIANTS = (
    variant(
        "http-1.0: answers are HTTP/1.0, with one answer for each connection, and chunked requests are "
        "refused",
        listen=_behind(_refusing_chunks, _with_heads(_old)),
    ),
    variant(
        "connections-closed: every connection is closed after one answer",
        listen=_behind(_changing(_closing)),
    ),
    variant("bodies-in-chunks: bodies are sent in chunks", listen=_behind(_changing(_in_chunks))),
    variant("headers-in-title-case: header names have capital initials", listen=_with_heads(_in_title_case)),
    variant("headers-in-capitals: header names are in capitals", listen=_with_heads(_in_capitals)),
    variant(
        "connections-end-after-errors: after an answer of 400 or more, the connection ends without notice",
        listen=ending(lambda status: status >= 400),
    ),
    variant(
        "connections-end-now-and-then: after one answer in five, the connection ends without notice",
        listen=ending(lambda _status: random.randrange(5) == 0),  # noqa: S311 - no secret
    ),
)
