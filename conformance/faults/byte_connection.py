"""One connection through the byte-level proxy: both directions, and what happens to the octets."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from gateproof.conformance.faults.tls_records import Asked
from gateproof.conformance.faults.toxics import ENDS, Kind, Toxic, Way

_CHUNK = 64 * 1024
_LINGER_ZERO = struct.pack("ii", 1, 0)
# A connection is ended after this time at the latest.
LONGEST_LIFE_S = 600.0
_CONNECT_S = 5.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
CountToxic = Callable[[Toxic], None]


class ConnectionOver(Exception):
    """The connection has to end; with `abruptly`, by a reset."""

    def __init__(self, *, abruptly: bool) -> None:
        super().__init__("a reset" if abruptly else "a close")
        self.abruptly = abruptly


class Connection:
    """Forwards octets as the toxics allow; each toxic with an effect is counted once."""

    def __init__(
        self, client: Streams, toxics: Sequence[Toxic], *, count: CountToxic, rng: random.Random
    ) -> None:
        self._client = client
        self._toxics = toxics
        self._count = count
        self._rng = rng
        self._counted: set[Toxic] = set()
        self._asked = Asked()
        self._passed_in_all = 0
        self._task = asyncio.current_task()

    def drop(self) -> asyncio.Task[None] | None:
        """Ends the connection from outside; returns its task, which has to end yet."""
        if self._task is not None:
            self._task.cancel()
        return self._task

    async def run(self, upstream: tuple[str, int]) -> None:
        """Runs until both directions have ended; raises OSError if the upstream cannot be reached."""
        writers = [self._client[1]]
        abruptly = False
        try:
            for toxic in self._toxics:
                if toxic.kind is Kind.DOWN:
                    self._apply(toxic)
                    raise ConnectionOver(abruptly=True)
            async with asyncio.timeout(_CONNECT_S):
                server = await asyncio.open_connection(*upstream)
            writers.append(server[1])
            async with asyncio.timeout(LONGEST_LIFE_S):
                await self._both(server)
        except ConnectionOver as end:
            abruptly = end.abruptly
        finally:
            for writer in writers:
                close_side(writer, abruptly=abruptly)

    async def _both(self, server: Streams) -> None:
        ways = [
            asyncio.ensure_future(self._pass(Way.THERE, self._client[0], server[1])),
            asyncio.ensure_future(self._pass(Way.BACK, server[0], self._client[1])),
        ]
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_EXCEPTION)
            for way in done:
                way.result()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(self, way: Way, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        toxics = [toxic for toxic in self._toxics if toxic.way is way and toxic.kind is not Kind.LIMIT]
        ends = [toxic for toxic in toxics if toxic.kind in ENDS]
        slow = [toxic for toxic in toxics if toxic.kind not in ENDS]
        counted = dict.fromkeys(ends, 0)
        try:
            while octets := await source.read(_CHUNK):
                if way is Way.THERE:
                    self._asked.feed(octets)
                for piece in self._pieces(octets, slow):
                    await self._delay(piece, slow)
                    if not await self._forward(piece, counted, sink):
                        await _discard(source)
                        return
        except ConnectionError:
            raise ConnectionOver(abruptly=True) from None
        with suppress(OSError):
            sink.write_eof()

    def _pieces(self, octets: bytes, slow: Sequence[Toxic]) -> Iterator[bytes]:
        slicing = next((toxic for toxic in slow if toxic.kind is Kind.SLICE), None)
        if slicing is None:
            yield octets
            return
        for start in range(0, len(octets), slicing.octets):
            self._apply(slicing)
            yield octets[start : start + slicing.octets]

    async def _delay(self, piece: bytes, slow: Sequence[Toxic]) -> None:
        for toxic in slow:
            self._apply(toxic)
            match toxic.kind:
                case Kind.BANDWIDTH:
                    await asyncio.sleep(len(piece) / toxic.octets)
                case _:
                    await asyncio.sleep(toxic.seconds + self._rng.uniform(-toxic.jitter_s, toxic.jitter_s))

    async def _forward(self, piece: bytes, counted: dict[Toxic, int], sink: asyncio.StreamWriter) -> bool:
        """Forwards as much as the toxics allow; False if nothing more passes in this direction."""
        ending: Toxic | None = None
        for toxic, before in counted.items():
            if toxic.asked and not self._asked.seen:
                continue
            room = max(toxic.after - before, 0)
            if len(piece) > room:
                piece, ending = piece[:room], toxic
            counted[toxic] = before + len(piece)
        limit = next((toxic for toxic in self._toxics if toxic.kind is Kind.LIMIT), None)
        if limit is not None and self._passed_in_all + len(piece) > limit.octets:
            piece, ending = piece[: max(limit.octets - self._passed_in_all, 0)], limit
        self._passed_in_all += len(piece)
        if piece:
            sink.write(piece)
            await sink.drain()
        if ending is None:
            return True
        self._apply(ending)
        match ending.kind:
            case Kind.HALF_CLOSE:
                sink.write_eof()
                return False
            case Kind.TIMEOUT:
                await asyncio.sleep(ending.seconds)
        raise ConnectionOver(abruptly=ending.kind in {Kind.TIMEOUT, Kind.RESET})

    def _apply(self, toxic: Toxic) -> None:
        if toxic not in self._counted:
            self._counted.add(toxic)
            self._count(toxic)


async def _discard(source: asyncio.StreamReader) -> None:
    while await source.read(_CHUNK):
        pass


def close_side(writer: asyncio.StreamWriter, *, abruptly: bool) -> None:
    """Closes one side; with `abruptly`, by a reset."""
    if not abruptly:
        writer.close()
        return
    plain = writer.get_extra_info("socket")
    with suppress(OSError):
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
    writer.transport.abort()
