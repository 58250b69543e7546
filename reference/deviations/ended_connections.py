"""A server that ends connections after an answer without notice, as HTTP allows (RFC 9112 section 9.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateproof.reference.serving import Listen, listen

_START = b"HTTP/1.1 "


class _Noting:
    """A transport that notes the status of the last answer."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.status = 0

    def write(self, octets: bytes) -> None:
        if octets.startswith(_START):
            self.status = int(octets[len(_START) : len(_START) + 3])
        self._transport.write(octets)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Ending(HttpToolsProtocol):
    """uvicorn's HTTP protocol; `ends` says after which status the connection ends."""

    def __init__(self, ends: Callable[[int], bool], *given: Any) -> None:
        super().__init__(*given)
        self._ends = ends
        self._noting: _Noting | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._noting = _Noting(transport)
        super().connection_made(cast("asyncio.Transport", self._noting))

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._noting is not None and self._ends(self._noting.status):
            self._noting.close()


def ending(ends: Callable[[int], bool]) -> Listen:
    """Listens, and ends a connection after an answer whose status fits."""
    return partial(listen, speaking=partial(_Ending, ends))
