"""ASGI applications are served on loopback, with a way to cut a connection instead of answering.

uvicorn's protocol is used without uvicorn's server: shutting that one down takes 200 ms, closing one's own
listener takes none, and several listeners can share one event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import socket
import ssl
import struct
from email.utils import formatdate
from typing import TYPE_CHECKING, cast

from starlette.responses import Response
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

ABORT = "fakes.abort"
WRITE = "fakes.write"
# A server that drops idle connections races with its clients' next request: a fault nobody scripted.
KEEP_ALIVE_S = 3600
LINGER_ZERO = struct.pack("ii", 1, 0)
_OFFER = re.compile(rb"\r\nupgrade:[ \t]*h2c[ \t]*(?=\r\n)", re.IGNORECASE)


class AbortableProtocol(HttpToolsProtocol):
    """Every request knows how to tear down the connection that it came on, and how to write past HTTP."""

    def data_received(self, data: bytes) -> None:
        """An offer to go on in HTTP/2 is passed over, as any server may (RFC 9110 section 7.8).

        The parser takes whatever follows one for the other protocol, and a request would lose its body.
        """
        super().data_received(_OFFER.sub(b"", data))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(dict[str, object], self.scope)["extensions"] = {
            ABORT: self.abort,
            WRITE: self.transport.write,
        }

    def abort(self) -> None:
        """Drop the connection with a TCP reset: neither an answer nor a TLS close comes first."""
        # A TLS transport that its client has closed already knows no socket, and fails when asked for it.
        with contextlib.suppress(OSError, AttributeError):
            plain = self.transport.get_extra_info("socket")
            if plain is not None:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
        self.transport.abort()


class Reset(Response):
    """The answer that never comes: the connection is reset in its place."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        abort = scope.get("extensions", {}).get(ABORT)
        if abort is None:
            raise ConnectionResetError("the connection is reset in place of an answer")
        abort()
        # uvicorn answers 500 for an application that returns early, unless it has seen the disconnect.
        while (await receive())["type"] != "http.disconnect":
            pass


class Listener:
    """One open port."""

    def __init__(
        self, server: asyncio.Server, netloc: str, state: ServerState, clock: asyncio.Task[None]
    ) -> None:
        self.netloc = netloc
        self._server = server
        self._state = state
        self._clock = clock

    def close(self) -> None:
        """Stop listening and drop every connection, answered or not."""
        self._clock.cancel()
        self._server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in list(self._state.tasks):
            task.cancel()


def is_loopback(host: str) -> bool:
    """Only `localhost` and literal loopback addresses count: a name could resolve to anything."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server_tls(cert_file: Path, key_file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(cert_file, key_file)
    return context


async def listen(
    build: Callable[[str], ASGIApp],
    *,
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    came: Callable[[], None] = lambda: None,
) -> Listener:
    """Serve an application on a loopback port; port 0 takes a free one.

    The application is built for the address that was got, before the first connection is let in. `came` hears
    of every connection, also of one that ends before HTTP begins.
    """
    if not is_loopback(host):
        raise ValueError(f"refusing to listen on {host}: a test double stays on loopback")
    # Its tracebacks could quote what a request carried.
    logging.getLogger("uvicorn").propagate = False
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    state, loop = ServerState(), asyncio.get_running_loop()
    config: Config

    def protocol() -> AbortableProtocol:
        came()
        return AbortableProtocol(config, state, {})

    # Handing over a host rather than a socket matters: asyncio sets TCP_NODELAY only on sockets that it made.
    server = await loop.create_server(protocol, host, port, ssl=tls, backlog=1024, start_serving=False)
    name, number = server.sockets[0].getsockname()[:2]
    netloc = f"[{name}]:{number}" if ":" in name else f"{name}:{number}"
    config = Config(
        build(netloc),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http=AbortableProtocol,
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    config.load()
    await server.start_serving()
    return Listener(server, netloc, state, loop.create_task(_keep_date(state)))


async def _keep_date(state: ServerState) -> None:
    while True:
        state.default_headers[:] = [(b"date", formatdate(usegmt=True).encode())]
        await asyncio.sleep(1)
