"""Insecure TLS listeners, for gateways and services."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from uvicorn.server import ServerState

from gateproof.reference.self_signed import self_signed
from gateproof.reference.serving import Listen, Listener, Origin, listen, server_tls

_TLS_HANDSHAKE = 0x16


class Both(Listener):
    """One port for TLS and plain HTTP, each forwarded to an internal port."""

    def __init__(self, front: asyncio.Server, state: ServerState, behind: tuple[Listener, ...]) -> None:
        super().__init__(front, state)
        self._behind = behind

    def close(self) -> None:
        super().close()
        for listener in self._behind:
            listener.close()


async def listen_to_both(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
    """Serves plain HTTP on an https port, too."""
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
        await asyncio.gather(piped(reader, outward), piped(inward, writer))

    front = await asyncio.start_server(connected, host, int(port), backlog=1024)
    return Both(front, ServerState(), (secure, plain))


class _WithAnother(Listener):
    """A listener, and another one that is closed with it."""

    def __init__(self, front: Listener, beside: Listener) -> None:
        self._front, self._beside = front, beside

    @property
    def port(self) -> int:
        return self._front.port

    def close(self) -> None:
        self._front.close()
        self._beside.close()


@dataclass(kw_only=True, slots=True)
class AnotherPort:
    """Serves everything on another port, too, correctly, and knows that port."""

    port: int = 0

    def beside(self, front: Listen = listen) -> Listen:
        async def listening(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
            beside = await listen(replace(origin, url=self.on_it(origin.url)), tls, state)
            self.port = beside.port
            return _WithAnother(await front(origin, tls, state), beside)

        return listening

    def on_it(self, url: str) -> str:
        """The same URL with the other port, or with port 0 while that is not open."""
        parts = urlsplit(url)
        return parts._replace(netloc=f"{parts.hostname}:{self.port}").geturl()


def listening_as(odd: Listen, *, which: int) -> Listen:
    """Uses `odd` for the TLS host with this number, in the order in which the hosts start to listen."""
    others = 0

    async def listening(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
        nonlocal others
        if tls is None or not origin.url.startswith("https:"):
            return await listen(origin, tls, state)
        others += 1
        return await (odd if others == which else listen)(origin, tls, state)

    return listening


async def with_wrong_certificate(origin: Origin, _tls: ssl.SSLContext | None, state: ServerState) -> Listener:
    """Listens with a self-signed certificate for another host."""
    with self_signed("gateway.example", ec.generate_private_key(ec.SECP256R1())) as both:
        return await listen(origin, server_tls(both, both), state)


async def piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while octets := await reader.read(65536):
            writer.write(octets)
            await writer.drain()
    writer.close()
