"""Serves ASGI applications on loopback, several in one event loop, with an immediate stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import logging
import os
import signal
import ssl
import threading
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from gateproof.doubles.joined_writes import JoiningProtocol

PORT_TAKEN = 98
# Closing idle connections would race with a client's next request.
KEEP_ALIVE_S = 3600
HANDSHAKE_S = 10
_NEW_OBJECTS = 20_000


class NotServed(Exception):
    """The server cannot start; the text is one line, and there is an exit code."""

    def __init__(self, what: str, exit_code: int = 2) -> None:
        super().__init__(what)
        self.exit_code = exit_code


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """An application and its URL."""

    app: ASGIApp
    url: str


class Listener:
    """One open port."""

    def __init__(self, server: asyncio.Server, state: ServerState) -> None:
        self._server = server
        self._state = state

    @property
    def port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Stops listening and drops every connection, including idle ones."""
        self._server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in list(self._state.tasks):
            task.cancel()


Listen = Callable[[Origin, ssl.SSLContext | None, ServerState], Awaitable[Listener]]
Speak = Callable[[Config, ServerState, dict[str, Any]], asyncio.Protocol]


def is_loopback(host: str) -> bool:
    """Only `localhost` and literal loopback addresses count: a name could resolve to anything."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def loopback_url(text: str) -> str:
    """An http or https URL on loopback with a port, without a trailing slash."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise NotServed(f"not an address: {text}") from None
    if parts.scheme not in ("http", "https") or parts.query or parts.fragment or parts.username:
        raise NotServed(f"expected an http or https address without query and user, found {text}")
    if not is_loopback(parts.hostname or ""):
        raise NotServed(
            f"refusing to listen on {parts.hostname or 'nothing'}: a test double stays on loopback"
        )
    if not port:
        raise NotServed(f"expected an address with a port, found {text}")
    return text.rstrip("/")


def server_tls(
    cert_file: Path, key_file: Path, *, oldest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with warnings.catch_warnings():
        # Python warns about old TLS versions; here they are chosen on purpose.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = oldest
    if oldest < ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ALL:@SECLEVEL=0")
    try:
        context.load_cert_chain(cert_file, key_file)
    except (OSError, ssl.SSLError):
        raise NotServed(f"cannot use {cert_file} with {key_file} as certificate and key") from None
    return context


def run(
    origins: Sequence[Origin],
    *,
    tls: ssl.SSLContext | None,
    exit_with_stdin: bool,
    on_exit: Callable[[], Awaitable[None]] | None = None,
    listening: Listen | None = None,
) -> None:
    """Serves until SIGTERM, Ctrl-C or, with `exit_with_stdin`, the end of stdin."""
    # There are few reference cycles, so the collection is made rarer.
    gc.set_threshold(_NEW_OBJECTS)
    asyncio.run(_run(origins, tls, exit_with_stdin, on_exit, listening or listen))


async def _run(
    origins: Sequence[Origin],
    tls: ssl.SSLContext | None,
    exit_with_stdin: bool,
    on_exit: Callable[[], Awaitable[None]] | None,
    listening: Listen,
) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if exit_with_stdin:
        # A thread, because event loops cannot wait for every kind of stdin (a file, /dev/null).
        threading.Thread(target=_until_eof, args=(loop, stop), daemon=True).start()
    states: list[ServerState] = []
    listeners: list[Listener] = []
    try:
        for origin in origins:
            state = ServerState()
            states.append(state)
            listeners.append(await listening(origin, tls, state))
        ticking = asyncio.create_task(_keep_date(states))
        await stop.wait()
        ticking.cancel()
    finally:
        for listener in listeners:
            listener.close()
        if on_exit is not None:
            await on_exit()


async def listen(
    origin: Origin,
    tls: ssl.SSLContext | None,
    state: ServerState,
    *,
    speaking: Speak = JoiningProtocol,
) -> Listener:
    """Opens the port of one origin."""
    # uvicorn's tracebacks could contain data from a request.
    logger = logging.getLogger("uvicorn")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    config = Config(
        origin.app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    config.load()
    parts = urlsplit(origin.url)
    secure = parts.scheme == "https"
    if secure and tls is None:
        raise NotServed(f"{origin.url} needs a certificate: --tls-cert and --tls-key")
    loop = asyncio.get_running_loop()
    try:
        # Pass a host, not a socket: asyncio sets TCP_NODELAY only on sockets that it made itself.
        server = await loop.create_server(
            lambda: speaking(config, state, {}),
            parts.hostname,
            parts.port or 0,
            ssl=tls if secure else None,
            ssl_handshake_timeout=HANDSHAKE_S if secure else None,
            backlog=1024,
        )
    except OSError as error:
        raise NotServed(f"cannot listen at {parts.netloc}: {error.strerror or error}", PORT_TAKEN) from None
    return Listener(server, state)


async def _keep_date(states: Sequence[ServerState]) -> None:
    while True:
        for state in states:
            state.default_headers[:] = [(b"date", formatdate(usegmt=True).encode())]
        await asyncio.sleep(1)


def _until_eof(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    # The loop may be closed already.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(stop.set)
