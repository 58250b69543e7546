"""A proxy for one browser that keeps every octet which it passes on to it.

It ends the browser's TLS itself, so what it keeps is what the browser reads: one file a connection.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PIECE = 64 * 1024


class RecordingProxy:
    """Tunnels to loopback alone; `folder` gets what the servers say, in files named after their ports."""

    def __init__(self, folder: Path, towards_browser: ssl.SSLContext, towards_world: ssl.SSLContext) -> None:
        self._folder = folder
        self._towards_browser, self._towards_world = towards_browser, towards_world
        self._count = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            try:
                await self._tunnel(reader, writer)
            finally:
                writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, address, _ = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)
        host, _, port = address.decode().rpartition(":")
        if method != b"CONNECT" or host != "127.0.0.1":
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await writer.drain()
        await writer.start_tls(self._towards_browser)
        from_world, to_world = await asyncio.open_connection(host, int(port), ssl=self._towards_world)
        self._count += 1
        kept = self._folder / f"{port}-{self._count:04}.octets"
        pumps = [
            asyncio.create_task(_pump(reader, to_world, None)),
            asyncio.create_task(_pump(from_world, writer, kept)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            to_world.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: Path | None) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            if kept is not None:
                # Kept before it is passed on: what the browser has seen is in the file.
                with kept.open("ab") as file:
                    file.write(piece)
            writer.write(piece)
            await writer.drain()


@contextmanager
def recording(folder: Path, certificate: tuple[Path, Path], ca_file: str) -> Iterator[str]:
    """The proxy's address, while the block lasts."""
    towards_browser = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    towards_browser.load_cert_chain(*certificate)
    proxy = RecordingProxy(folder, towards_browser, ssl.create_default_context(cafile=ca_file))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    starting = asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(starting, loop).result(10)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
