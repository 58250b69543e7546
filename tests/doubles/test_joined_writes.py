"""A head and its body are one write; nothing is held longer than the event loop needs to go on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from gateproof.doubles.joined_writes import JoinedWrites
from gateproof.fakes import serving as fakes_serving
from gateproof.reference import serving as reference_serving

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


@pytest.mark.parametrize("name", ["writelines", "write_eof", "set_protocol"])
def test_a_head_is_sent_before_what_else_ends_or_sends(name: str) -> None:
    async def body(transport: Any, wire: Wire) -> None:
        setattr(wire, name, lambda: wire.done.append(name))
        transport.write(HEAD)
        getattr(transport, name)()
        assert wire.done == [HEAD, name]

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


async def answering(scope: Any, receive: Any, send: Any) -> None:
    """An application with a short answer."""
    await PlainTextResponse("ok")(scope, receive, send)


def first_pieces(port: int) -> list[bytes]:
    """The first piece of each of many answers on one connection, as the client receives it."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        pieces = []
        for _ in range(50):
            connection.sendall(b"GET / HTTP/1.1\r\nhost: double.test\r\n\r\n")
            pieces.append(connection.recv(65536))
            if not pieces[-1].endswith(b"ok"):
                break
        return pieces


async def of_a_fake() -> list[bytes]:
    listener = await fakes_serving.listen(lambda _: answering, host="127.0.0.1", port=0, tls=None)
    try:
        return await asyncio.to_thread(first_pieces, int(listener.netloc.rpartition(":")[2]))
    finally:
        await listener.end()


async def of_the_reference() -> list[bytes]:
    origin = reference_serving.Origin(app=answering, url="http://127.0.0.1:0")
    listener = await reference_serving.listen(origin, None, ServerState())
    try:
        return await asyncio.to_thread(first_pieces, listener.port)
    finally:
        listener.close()


@pytest.mark.parametrize("pieces_of", [of_a_fake, of_the_reference])
def test_a_client_receives_answers_in_one_piece(pieces_of: Callable[[], Any]) -> None:
    pieces = asyncio.run(pieces_of())
    assert all(piece.endswith(b"\r\n\r\nok") for piece in pieces)
