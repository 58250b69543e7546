"""A small HTTP/1.1 client for requests to merchants: each answer is limited in time and size.

It has no redirects, cookies, proxies or decompression: nothing happens that the gateway did not decide.
Connections are kept, because a TLS handshake takes longer than a request.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import cast
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import httptools

from gateproof.reference.gateway.policy.vault import MerchantLimits

_PORTS = {"http": 80, "https": 443}
_ENDED = "the connection ended before the answer"
_UNQUOTED = "!#$%&'()*+,/:;=?@[]~"


class TooLarge(Exception):
    """The answer is larger than allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpAnswer:
    """A complete answer; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class HttpClient:
    """Sends requests, and keeps the connections of each origin for later ones."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._idle: defaultdict[tuple[str, str], list[_Connection]] = defaultdict(list)

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, limits: MerchantLimits
    ) -> HttpAnswer:
        """Raises OSError (with TLS errors and timeouts), ValueError for invalid HTTP, or TooLarge."""
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("the address is not one of http or https")
        origin = (parts.scheme, parts.netloc.rpartition("@")[2])
        target = quote(_of_origin(parts), safe=_UNQUOTED)
        fields = {"host": origin[1], "content-length": str(len(body)), **headers}
        if not all(value.isascii() and value.isprintable() for value in fields.values()):
            raise ValueError("a header contains a control character")
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        connection = self._idle_connection(origin) or await self._connected(parts, limits)
        try:
            sent = f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body
            answer = await connection.exchange(sent, limits)
        except BaseException:
            # Also after a cancellation: the next request must not get this answer.
            connection.close()
            raise
        if connection.reusable:
            self._idle[origin].append(connection)
        else:
            connection.close()
        return answer

    async def aclose(self) -> None:
        for connections in self._idle.values():
            for connection in connections:
                connection.close()

    def _idle_connection(self, origin: tuple[str, str]) -> _Connection | None:
        connections = self._idle[origin]
        while connections:
            connection = connections.pop()
            if connection.reusable and not connection.has_unread():
                return connection
            connection.close()
        return None

    async def _connected(self, address: SplitResult, limits: MerchantLimits) -> _Connection:
        async with asyncio.timeout(limits.connecting_s):
            _, connection = await asyncio.get_running_loop().create_connection(
                _Connection,
                address.hostname or "",
                address.port or _PORTS[address.scheme],
                ssl=self._tls if address.scheme == "https" else None,
            )
        return connection


class _Connection(asyncio.Protocol):
    """One connection, which carries one exchange at a time; `on_…` are called by the parser."""

    def __init__(self) -> None:
        self.reusable = False
        self._transport: asyncio.Transport | None = None
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._received = 0
        self._ends_with_connection = False
        self._answer: HttpAnswer | None = None
        self._trouble: Exception | None = None
        self._progress = asyncio.Event()

    async def exchange(self, request: bytes, limits: MerchantLimits) -> HttpAnswer:
        """Sends a request, and waits for its answer."""
        assert self._transport is not None  # noqa: S101 - it is connected
        self._begin()
        self._transport.write(request)
        while self._answer is None and self._trouble is None:
            async with asyncio.timeout(limits.silence_s):
                await self._progress.wait()
            self._progress.clear()
            if self._received > limits.most_octets:
                raise TooLarge
        if self._answer is None:
            raise self._trouble or ConnectionResetError(_ENDED)
        return self._answer

    def has_unread(self) -> bool:
        """True if the server has sent something or ended the connection, and asyncio has not seen it yet."""
        assert self._transport is not None  # noqa: S101 - it was connected
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket"), select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        self.reusable = False
        if self._transport is not None:
            self._transport.abort()

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        if self._answer is not None:
            # Nothing was asked, so this would be taken for the answer to the next request.
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.reusable = False
            self._trouble = ValueError("the answer is not HTTP")
        self._progress.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.reusable = False
        if self._answer is None and self._ends_with_connection and exc is None:
            self._complete()
        self._trouble = exc or ConnectionResetError(_ENDED)
        self._progress.set()

    # Called by the parser

    def on_message_begin(self) -> None:
        if self._answer is not None:
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._ends_with_connection = self._headers.keys().isdisjoint({"content-length", "transfer-encoding"})

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < HTTPStatus.OK:
            # An interim answer, such as 103 Early Hints: the final one follows.
            self._headers.clear()
            self._ends_with_connection = False
            return
        if self._answer is None:
            self.reusable = self._parser.should_keep_alive()
            self._complete()

    def _complete(self) -> None:
        status = self._parser.get_status_code()
        self._answer = HttpAnswer(status=status, headers=self._headers, body=bytes(self._body))


def _of_origin(address: SplitResult) -> str:
    """The path and query of an address, as a request line has them."""
    return urlunsplit(("", "", address.path or "/", address.query, ""))
