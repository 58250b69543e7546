"""The gateway's HTTP client: what it takes for an answer, and which connections it uses again."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TypeVar

import pytest
import trustme

from gateproof.reference.gateway.http_client import HttpAnswer, HttpClient, TooLarge
from gateproof.reference.gateway.policy.vault import MerchantLimits

Result = TypeVar("Result")
LIMITS = MerchantLimits()
PATIENCE_S = 20
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nX-Name: One\r\n\r\nok"
HUNG = replace(LIMITS, silence_s=0.05)


class Server:
    """Answers each request with the next of these octets; None closes the connection."""

    def __init__(self, *answers: bytes | None) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections: list[asyncio.Task[None] | None] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while self.answers:
                self.requests.append(await received(reader))
                answer = self.answers.pop(0)
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def received(reader: asyncio.StreamReader) -> bytes:
    """One request, with its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    (length,) = (line for line in head.split(b"\r\n") if line.startswith(b"content-length: "))
    return head + await reader.readexactly(int(length.partition(b" ")[2]))


@asynccontextmanager
async def serving(*answers: bytes | None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server(*answers)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        await asyncio.gather(*(each for each in server.connections if each is not None))


def run(work: Callable[[], Awaitable[Result]]) -> Result:
    async def bounded() -> Result:
        async with asyncio.timeout(PATIENCE_S):
            return await work()

    return asyncio.run(bounded())


def asked(
    *answers: bytes | None, times: int = 1, limits: MerchantLimits = LIMITS
) -> tuple[list[HttpAnswer], Server]:
    """The answers to equal requests, one after the other."""

    async def work() -> tuple[list[HttpAnswer], Server]:
        async with serving(*answers) as server:
            client = HttpClient(ssl.create_default_context())
            try:
                found = [
                    await client.request("POST", f"{server.url}/a?b=c", {"x-one": "1"}, b"body", limits)
                    for _ in range(times)
                ]
            finally:
                await client.aclose()
            return found, server

    return run(work)


def test_a_request_has_its_method_target_headers_and_body() -> None:
    _, server = asked(WHOLE)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.splitlines() == [
        b"POST /a?b=c HTTP/1.1",
        f"host: {server.url.partition('//')[2]}".encode(),
        b"content-length: 4",
        b"x-one: 1",
    ]
    assert body == b"body"


@pytest.mark.parametrize(
    "answer",
    [
        WHOLE,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nX-Name: One\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + WHOLE,
    ],
    ids=["length", "chunks", "interim answers"],
)
def test_an_answer_is_read_to_its_end_and_the_connection_is_used_again(answer: bytes) -> None:
    (first, second), server = asked(answer, WHOLE, times=2)
    assert (first.status, first.body, first.headers["x-name"]) == (200, b"ok", "One")
    assert "link" not in first.headers
    assert second.body == b"ok"
    assert len(server.connections) == 1


@pytest.mark.parametrize(
    "answer",
    [
        WHOLE + b"more",
        WHOLE + WHOLE,
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
    ],
    ids=["octets after it", "a second answer", "close"],
)
def test_after_some_answers_the_connection_is_not_used_again(answer: bytes) -> None:
    found, server = asked(answer, WHOLE, times=2)
    assert [each.body for each in found] == [b"ok", b"ok"]
    assert len(server.connections) == 2


def test_an_answer_that_nobody_asked_for_is_not_the_next_one() -> None:
    async def work() -> None:
        later = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await received(reader)
            writer.write(WHOLE)
            await later.wait()
            writer.write(WHOLE.replace(b"ok", b"no"))
            # The client closes the connection when it gets this answer.
            with suppress(ConnectionError):
                await reader.read()
            closed.set()
            writer.close()

        closed = asyncio.Event()
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
            url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
            client = HttpClient(ssl.create_default_context())
            await client.request("GET", url, {}, b"", LIMITS)
            later.set()
            await closed.wait()
            closed.clear()
            assert (await client.request("GET", url, {}, b"", LIMITS)).body == b"ok"
            await closed.wait()
            await client.aclose()

    run(work)


def test_a_connection_that_has_just_ended_is_not_used_again() -> None:
    """The event loop has not seen yet that the server has closed it."""

    def serve(listening: socket.socket, ended: threading.Event) -> None:
        for _ in range(2):
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(WHOLE)
            ended.set()

    async def work() -> None:
        ended = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=serve, args=(listening, ended))
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            client = HttpClient(ssl.create_default_context())
            await client.request("GET", url, {}, b"", LIMITS)
            # Keeps the loop from looking.
            assert ended.wait(PATIENCE_S)
            assert (await client.request("GET", url, {}, b"", LIMITS)).body == b"ok"
            await client.aclose()
            thread.join(PATIENCE_S)

    run(work)


def test_a_body_may_end_with_the_connection() -> None:
    async def work() -> None:
        async with serving(b"HTTP/1.1 200 OK\r\n\r\nuntil the end") as server:
            client = HttpClient(ssl.create_default_context())
            answer = await client.request("GET", server.url, {}, b"", LIMITS)
            assert answer.body == b"until the end"

    run(work)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, ConnectionResetError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", TimeoutError),
        (b"SSH-2.0-server\r\n", ValueError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok", ValueError),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", ValueError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n" + b" " * 300_000, TooLarge),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000, TooLarge),
        (b"", TimeoutError),
    ],
    ids=[
        "nothing",
        "part",
        "another protocol",
        "two lengths",
        "upgrade",
        "long body",
        "long head",
        "silence",
    ],
)
def test_what_is_no_answer_is_an_error(answer: bytes | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        asked(answer, WHOLE, limits=HUNG)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-le",
    ],
    ids=["body", "interim answer", "head after an interim answer"],
)
def test_a_connection_that_ends_within_the_answer_is_an_error(answer: bytes) -> None:
    with pytest.raises(ConnectionResetError):
        asked(answer)


@pytest.mark.parametrize("value", ["a\r\nx-more: 1", "a\nb", "a\0b", "ä"])
def test_a_header_cannot_add_another_one(value: str) -> None:
    async def work() -> None:
        await HttpClient(ssl.create_default_context()).request(
            "GET", "http://127.0.0.1:1/", {"authorization": value}, b"", LIMITS
        )

    with pytest.raises(ValueError, match="control character"):
        run(work)


@pytest.mark.parametrize("url", ["", "/only/a/path", "ftp://127.0.0.1/", "https:///x", "http://[::1"])
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    async def work() -> None:
        await HttpClient(ssl.create_default_context()).request("GET", url, {}, b"", LIMITS)

    with pytest.raises(ValueError, match=r"address|IPv6"):
        run(work)


def test_a_target_is_percent_encoded() -> None:
    async def work() -> bytes:
        async with serving(WHOLE) as server:
            client = HttpClient(ssl.create_default_context())
            await client.request("GET", f"{server.url}/a b?ä=%20", {}, b"", LIMITS)
            await client.aclose()
            return server.requests[0].splitlines()[0]

    assert run(work) == b"GET /a%20b?%C3%A4=%20 HTTP/1.1"


def test_only_a_certificate_of_the_trusted_authority_is_accepted() -> None:
    async def work(trusted: trustme.CA) -> bytes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme_ca.issue_cert("127.0.0.1").configure_cert(context)
        async with serving(WHOLE, tls=context) as server:
            trust = ssl.create_default_context()
            trusted.configure_trust(trust)
            client = HttpClient(trust)
            try:
                return (await client.request("GET", server.url, {}, b"", LIMITS)).body
            finally:
                await client.aclose()

    trustme_ca = trustme.CA()
    assert run(lambda: work(trustme_ca)) == b"ok"
    with pytest.raises(ssl.SSLCertVerificationError):
        run(lambda: work(trustme.CA()))
