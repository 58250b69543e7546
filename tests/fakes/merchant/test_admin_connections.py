"""Connections to the admin API are reused only after a whole answer."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from threading import Barrier, Thread

import pytest

from gateproof.fakes.merchant import admin_connections
from gateproof.fakes.merchant.admin_connections import AdminConnections

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CLOSING = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 3\r\n\r\nbad"
Answer = Callable[[socket.socket], None]


def saying(*pieces: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.01)

    return answer


@contextmanager
def merchant(*answers: Answer) -> Iterator[tuple[AdminConnections, list[tuple[int, bytes]]]]:
    """A server with these answers, one for each request; also a list of connection number and request."""
    heard: list[tuple[int, bytes]] = []
    remaining = iter(answers)

    def speak(number: int, connection: socket.socket) -> None:
        with connection:
            while request := connection.recv(65536):
                heard.append((number, request))
                answer = next(remaining, None)
                if answer is None:
                    return
                answer(connection)

    def serve(listening: socket.socket, opened: ExitStack) -> None:
        for number in range(100):
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            speaker = Thread(target=speak, args=(number, connection))
            speaker.start()
            opened.callback(speaker.join, 5)

    with ExitStack() as opened:
        listening = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = Thread(target=serve, args=(listening, opened))
        server.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with closing(AdminConnections(url, "t0ken", timeout_s=0.5)) as connections:
            yield connections, heard
        listening.shutdown(socket.SHUT_RDWR)
        server.join(5)


def test_a_connection_is_used_again() -> None:
    with merchant(saying(WHOLE), saying(WHOLE)) as (connections, heard):
        answers = [connections.post("/lookup", b'{"token": 1}'), connections.post("/fired", b"{}")]

    assert answers == [(200, b"{}"), (200, b"{}")]
    assert [number for number, _ in heard] == [0, 0]
    head, _, body = heard[0][1].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /lookup HTTP/1.1\r\n")
    assert b"\r\nAuthorization: Bearer t0ken\r\n" in head
    assert body == b'{"token": 1}'


def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with merchant(saying(WHOLE), saying(WHOLE)) as (connections, heard):
        connections.post("/fired", b"{}")
        monkeypatch.setattr(admin_connections, "_KEPT_S", 0.0)
        connections.post("/fired", b"{}")

    assert [number for number, _ in heard] == [0, 1]


def test_an_answer_may_come_in_pieces() -> None:
    with merchant(saying(*(WHOLE[at : at + 5] for at in range(0, len(WHOLE), 5)))) as (connections, _):
        assert connections.post("/fired", b"{}") == (200, b"{}")


def test_a_connection_that_the_merchant_closes_is_not_used_again() -> None:
    with merchant(saying(CLOSING), saying(WHOLE)) as (connections, heard):
        answers = [connections.post("/fired", b"{}"), connections.post("/fired", b"{}")]

    assert answers == [(400, b"bad"), (200, b"{}")]
    assert [number for number, _ in heard] == [0, 1]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(saying(), id="none"),
        pytest.param(saying(WHOLE[:-1]), id="half"),
        pytest.param(saying(b"HTTP/1.1 200 OK\r\n\r\n{}"), id="no length"),
        pytest.param(saying(b"SSH-2.0\r\nContent-Length: 0\r\n\r\n"), id="no status"),
        pytest.param(lambda connection: connection.shutdown(socket.SHUT_RDWR), id="end"),
    ],
)
def test_a_connection_without_a_whole_answer_is_not_used_again(answer: Answer) -> None:
    with merchant(answer, saying(WHOLE)) as (connections, heard):
        with pytest.raises(OSError, match=r"."):
            connections.post("/fired", b"{}")
        assert connections.post("/fired", b"{}") == (200, b"{}")

    assert [number for number, _ in heard] == [0, 1]


def test_threads_have_connections_of_their_own() -> None:
    together = Barrier(3)

    def answer(connection: socket.socket) -> None:
        together.wait(5)
        connection.sendall(WHOLE)

    with merchant(answer, answer, answer) as (connections, heard), ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: connections.post("/fired", b"{}"), range(3)))

    assert answers == [(200, b"{}")] * 3
    assert {number for number, _ in heard} == {0, 1, 2}
