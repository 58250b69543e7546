"""Gateways whose TLS is careless."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from dataclasses import replace

from uvicorn.server import ServerState

from reference.defects.defect import Defect, defect
from reference.serving import Listener, Origin, listen

_TLS_HANDSHAKE = 0x16


class Both(Listener):
    """One port that takes TLS and plain HTTP, each to a port of its own behind it."""

    def __init__(self, front: asyncio.Server, state: ServerState, behind: tuple[Listener, ...]) -> None:
        super().__init__(front, state)
        self._behind = behind

    def close(self) -> None:
        super().close()
        for listener in self._behind:
            listener.close()


async def listen_to_both(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
    """Whoever forgets the s in https is served all the same."""
    host, _, port = origin.url.partition("://")[2].partition("/")[0].rpartition(":")
    if tls is None or not origin.url.startswith("https:"):
        return await listen(origin, tls, state)
    secure = await listen(replace(origin, url=f"https://{host}:0"), tls, state)
    plain = await listen(replace(origin, url=f"http://{host}:0"), None, state)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(1)
        if not first:
            writer.close()
            return
        chosen = secure if first[0] == _TLS_HANDSHAKE else plain
        inward, outward = await asyncio.open_connection(host, chosen.port)
        outward.write(first)
        await asyncio.gather(_pipe(reader, outward), _pipe(inward, writer))

    front = await asyncio.start_server(connected, host, int(port), backlog=1024)
    return Both(front, ServerState(), (secure, plain))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while octets := await reader.read(65536):
            writer.write(octets)
            await writer.drain()
    writer.close()


TRANSPORT: tuple[Defect, ...] = (
    defect(
        "tls-1.0-and-up", "Clients that speak TLS 1.0 are served.", "TLS-01", oldest_tls=ssl.TLSVersion.TLSv1
    ),
    defect(
        "tls-1.1-and-up",
        "Clients that speak TLS 1.1 are served.",
        "TLS-01",
        oldest_tls=ssl.TLSVersion.TLSv1_1,
    ),
    defect(
        "plain-http-on-the-tls-port",
        "The ports for TLS serve plain HTTP as well.",
        "TLS-01",
        listen=listen_to_both,
    ),
)
