"""Sends the head and the body of an answer together.

uvicorn writes them one after the other. Over TLS these are two records, two system calls, and two events for
the client.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_END_OF_HEAD = b"\r\n\r\n"
# Methods of the transport that must not be called before what is held was sent.
_AFTER_WHAT_IS_HELD = frozenset({"writelines", "write_eof", "set_protocol"})


class JoinedWrites:
    """A transport that holds what ends like a head until the next write, or until the event loop goes on."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""

    def write(self, octets: bytes) -> None:
        if self._held:
            octets, self._held = self._held + octets, b""
            self._transport.write(octets)
        elif octets.endswith(_END_OF_HEAD):
            self._held = octets
            self._loop.call_soon(self._send_held)
        else:
            self._transport.write(octets)

    def close(self) -> None:
        self._send_held()
        self._transport.close()

    def abort(self) -> None:
        self._send_held()
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        if name in _AFTER_WHAT_IS_HELD:
            self._send_held()
        return getattr(self._transport, name)

    def _send_held(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's protocol with joined writes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast("asyncio.Transport", JoinedWrites(transport, self.loop)))
