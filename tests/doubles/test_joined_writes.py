"""A head and its body are one write; nothing is held longer than the event loop needs to go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateproof.doubles.joined_writes import JoinedWrites

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


class Wire:
    """A transport that notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def write(self, octets: bytes) -> None:
        self.done.append(octets)

    def close(self) -> None:
        self.done.append("close")

    def abort(self) -> None:
        self.done.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.done


def on_a_loop(body: Callable[[Any, Wire], Awaitable[None]]) -> None:
    """Calls it with a joining transport and the transport below."""

    async def running() -> None:
        wire = Wire()
        transport: Any = wire
        await body(JoinedWrites(transport, asyncio.get_running_loop()), wire)

    asyncio.run(running())


def test_head_and_body_are_one_write() -> None:
    async def body(transport: Any, wire: Wire) -> None:
        transport.write(HEAD)
        transport.write(b"ok")
        assert wire.done == [HEAD + b"ok"]
        await asyncio.sleep(0)
        assert wire.done == [HEAD + b"ok"]

    on_a_loop(body)


def test_a_head_alone_is_sent_when_the_loop_goes_on() -> None:
    async def body(transport: Any, wire: Wire) -> None:
        transport.write(HEAD)
        assert wire.done == []
        await asyncio.sleep(0)
        assert wire.done == [HEAD]
        transport.write(b"ok")
        assert wire.done == [HEAD, b"ok"]

    on_a_loop(body)


@pytest.mark.parametrize("end", ["close", "abort"])
def test_a_head_is_sent_before_the_end(end: str) -> None:
    async def body(transport: Any, wire: Wire) -> None:
        transport.write(HEAD)
        getattr(transport, end)()
        await asyncio.sleep(0)
        assert wire.done == [HEAD, end]

    on_a_loop(body)


def test_a_head_without_a_body_is_not_joined_to_the_next_one() -> None:
    async def body(transport: Any, wire: Wire) -> None:
        transport.write(HEAD)
        transport.write(b"")
        transport.write(HEAD)
        transport.write(b"ok")
        assert wire.done == [HEAD, HEAD + b"ok"]

    on_a_loop(body)


def test_everything_else_is_the_transports() -> None:
    async def body(transport: Any, wire: Wire) -> None:
        assert transport.is_closing() is False
        wire.close()
        assert transport.is_closing() is True

    on_a_loop(body)
