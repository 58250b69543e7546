"""HTTP protocols and listeners that read requests wrongly."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from gateproof.reference.deviations.held_locks import PIPELINED, Outage
from gateproof.reference.deviations.tls_listeners import Both, piped
from gateproof.reference.serving import Listen, Listener, Origin, listen

LARGE = 64 * 1024
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


def _cycle(connection: HttpToolsProtocol) -> RequestResponseCycle | None:
    """The current request of a connection; None before the first."""
    return connection.cycle


def _in_a_body(connection: HttpToolsProtocol) -> bool:
    cycle = _cycle(connection)
    return cycle is not None and cycle.more_body


class _LimitedConnection(HttpToolsProtocol):
    """A connection that is read only while it has one of the limited places."""

    def __init__(self, room: Room, *given: Any) -> None:
        super().__init__(*given)
        self._room = room
        self._late: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        if self._room.lets_in(self):
            super().data_received(data)
        else:
            self._late.append(data)

    @property
    def waits(self) -> bool:
        return bool(self._late)

    def go_on(self) -> None:
        late, self._late = self._late, []
        for data in late:
            self.data_received(data)

    def on_headers_complete(self) -> None:
        if self._room.heads_alone:
            self._room.leave(self)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._room.leave(self)
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._late.clear()
        self._room.leave(self)
        super().connection_lost(exc)


class Room:
    """A limited number of places for requests that are read: for their headers only, or for all of them."""

    def __init__(self, places: int, *, heads_alone: bool) -> None:
        self.heads_alone = heads_alone
        self._places = places
        self._inside: set[_LimitedConnection] = set()
        self._waiting: deque[_LimitedConnection] = deque()

    def lets_in(self, connection: _LimitedConnection) -> bool:
        if connection in self._inside or (self.heads_alone and _in_a_body(connection)):
            return True
        if len(self._inside) >= self._places:
            self._waiting.append(connection)
            return False
        self._inside.add(connection)
        return True

    def leave(self, connection: _LimitedConnection) -> None:
        self._inside.discard(connection)
        while self._waiting and len(self._inside) < self._places:
            following = self._waiting.popleft()
            if following.waits:
                asyncio.get_running_loop().call_soon(following.go_on)
                return


def _except_control(speaking: Callable[..., HttpToolsProtocol]) -> Listen:
    """Uses this protocol for the gateway, but not for its control, whose URL has a path."""

    async def listening(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
        if urlsplit(origin.url).path:
            return await listen(origin, tls, state)
        return await listen(origin, tls, state, speaking=speaking)

    return listening


def reading_at_most(places: int, *, heads_alone: bool = False) -> Listen:
    """Reads at most this many requests at a time; the others wait until one is complete."""
    room = Room(places, heads_alone=heads_alone)

    return _except_control(partial(_LimitedConnection, room))


def accepting_after_first_byte() -> Listen:
    """Accepts the next connection only after the previous one has sent a byte."""
    door = asyncio.Lock()

    async def listening(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
        host, _, port = origin.url.partition("://")[2].partition("/")[0].rpartition(":")
        scheme = origin.url.partition(":")[0]
        behind = await listen(replace(origin, url=f"{scheme}://{host}:0"), tls, state)

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async with door:
                first = await reader.read(1)
            if not first:
                writer.close()
                return
            inward, outward = await asyncio.open_connection(host, behind.port)
            outward.write(first)
            await asyncio.gather(piped(reader, outward), piped(inward, writer))

        front = await asyncio.start_server(connected, host, int(port), backlog=1024)
        return Both(front, ServerState(), (behind,))

    return listening


class _Impatient(HttpToolsProtocol):
    """Refuses a large body after its headers, and then reads the body as the next request."""

    def data_received(self, data: bytes) -> None:
        head, end, rest = data.partition(b"\r\n\r\n")
        announced = _LENGTH.search(head) if end and head.startswith(b"POST ") else None
        if announced is not None and int(announced[1]) > LARGE:
            self.transport.write(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
            data = rest
        if data:
            super().data_received(data)


class _Confused(HttpToolsProtocol):
    """Marks requests that come before the previous one was answered."""

    def on_headers_complete(self) -> None:
        cycle = _cycle(self)
        if cycle is not None and not cycle.response_complete:
            self.scope["extensions"] = {PIPELINED: {}}
        super().on_headers_complete()


class _Fragile(HttpToolsProtocol):
    """Stops the worker at an invalid chunk, like an exception that is not caught."""

    def __init__(self, downfall: Outage, *given: Any) -> None:
        super().__init__(*given)
        self._downfall = downfall

    def send_400_response(self, msg: str) -> None:
        if _in_a_body(self):
            self._downfall.begins()
        super().send_400_response(msg)


class _Down(HttpToolsProtocol):
    """Resets a connection to a stopped gateway when it sends something."""

    def __init__(self, downfall: Outage, *given: Any) -> None:
        super().__init__(*given)
        self._downfall = downfall

    def data_received(self, data: bytes) -> None:
        if time.monotonic() < self._downfall.until:
            self.transport.abort()
        else:
            super().data_received(data)


def closing_connections_during(downfall: Outage) -> Listen:
    return _except_control(partial(_Down, downfall))


def reading_on_after_a_refusal() -> Listen:
    return partial(listen, speaking=_Impatient)


def noticing_early_requests() -> Listen:
    return partial(listen, speaking=_Confused)


def breaking_on_bad_chunks(downfall: Outage) -> Listen:
    return partial(listen, speaking=partial(_Fragile, downfall))
