"""Serves ASGI applications on loopback, with a way to reset a connection instead of answering.

This uses uvicorn's protocol without uvicorn's server. That server takes 200 ms to shut down; our own listener
closes at once, and several listeners can share one event loop.
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
from uvicorn.server import ServerState

from gateproof.doubles.joined_writes import JoiningProtocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

ABORT = "fakes.abort"
WRITE = "fakes.write"
# Closing idle connections would race with the client's next request, which is a fault that no test asked for.
KEEP_ALIVE_S = 3600
# After this many iterations of the event loop, an accepted connection without TLS is known.
_TURNS = 5
LINGER_ZERO = struct.pack("ii", 1, 0)
_OFFER = re.compile(rb"\r\nupgrade:[ \t]*h2c[ \t]*(?=\r\n)", re.IGNORECASE)


class _State(ServerState):
    """The connections of one listener, and whether it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False


class AbortableProtocol(JoiningProtocol):
    """Gives every request a function that resets its connection, and one that writes raw bytes to it."""

    # Replaced for each listener.
    is_closed: Callable[[], bool] = staticmethod(bool)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Drops a connection that was accepted just before its listener was closed."""
        super().connection_made(transport)
        if self.is_closed():
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Removes an offer to upgrade to HTTP/2, which any server may ignore (RFC 9110 section 7.8).

        After such an offer the parser treats the rest as the other protocol, and the request loses its body.
        """
        super().data_received(_OFFER.sub(b"", data))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(dict[str, object], self.scope)["extensions"] = {
            ABORT: self.abort,
            WRITE: self.transport.write,
        }

    def abort(self) -> None:
        """Drops the connection with a TCP reset, without an answer and without a TLS close."""
        # A TLS transport that the client has closed has no socket any more, and asking for it raises.
        with contextlib.suppress(OSError, AttributeError):
            plain = self.transport.get_extra_info("socket")
            if plain is not None:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
        self.transport.abort()


class Reset(Response):
    """Resets the connection instead of answering."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        abort = scope.get("extensions", {}).get(ABORT)
        if abort is None:
            raise ConnectionResetError("the connection is reset in place of an answer")
        abort()
        # If an application returns early, uvicorn answers 500 unless it has seen the disconnect.
        while (await receive())["type"] != "http.disconnect":
            pass


class Listener:
    """One open port."""

    def __init__(self, server: asyncio.Server, netloc: str, state: _State, clock: asyncio.Task[None]) -> None:
        self.netloc = netloc
        self._server = server
        self._state = state
        self._clock = clock

    async def end(self) -> None:
        """Like `close`, after waiting until connections that were just accepted are known.

        asyncio cannot drop a connection that it has accepted but not handed over yet, and logs an error.
        """
        loop = asyncio.get_running_loop()
        for each in self._server.sockets:
            loop.remove_reader(each.fileno())
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        self.close()

    def close(self) -> None:
        """Stops listening and drops every connection, answered or not."""
        self._clock.cancel()
        self._state.closed = True
        self._server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in list(self._state.tasks):
            task.cancel()


def is_loopback(host: str) -> bool:
    """True only for `localhost` and literal loopback addresses: a name could resolve to anything."""
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
    connected: Callable[[], None] = lambda: None,
) -> Listener:
    """Serves an application on a loopback port; port 0 takes a free one.

    The application is built once the address is known and before the first connection is accepted.
    `connected` is called for every connection, also for one that ends before HTTP begins.
    """
    if not is_loopback(host):
        raise ValueError(f"refusing to listen on {host}: a test double stays on loopback")
    # uvicorn's tracebacks could contain data from a request.
    logging.getLogger("uvicorn").propagate = False
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    state, loop = _State(), asyncio.get_running_loop()
    config: Config

    def protocol() -> AbortableProtocol:
        connected()
        made = AbortableProtocol(config, state, {})
        made.is_closed = lambda: state.closed
        return made

    # Pass a host, not a socket: asyncio sets TCP_NODELAY only on sockets that it made itself.
    server = await loop.create_server(protocol, host, port, ssl=tls, backlog=1024, start_serving=False)
    name, number = server.sockets[0].getsockname()[:2]
    netloc = f"[{name}]:{number}" if ":" in name else f"{name}:{number}"
    config = Config(
        build(netloc),
        log_config=None,
        access_log=False,
        proxy_headers=False,
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
