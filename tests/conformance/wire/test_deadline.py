"""The time-out of a request is one for all of it, however a server stretches its answer."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpcore
import pytest

from gateproof.conformance.wire.bounded import Deadline
from gateproof.conformance.wire.connections import Connections, TooLate
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place, origin

pytestmark = pytest.mark.attack

STRETCHED = {
    "header octets one by one": (b"HTTP/1.1 200 OK\r\nX-Drip: ", b"x"),
    "interim answers without end": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "processing without end": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "a status line in octets": (b"HTTP/1.1 2", b"0"),
    "a body in octets": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
    "chunks without end": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}


@contextmanager
def stretching(first: bytes, again: bytes) -> Iterator[str]:
    """Answers with `first`, then with `again` ten times a second."""
    over = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(first)
            for _ in range(300):
                if over.wait(0.1):
                    return
                connection.sendall(again)

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                answer(listening.accept()[0])

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            over.set()
            thread.join(10)


@pytest.mark.parametrize(("first", "again"), STRETCHED.values(), ids=STRETCHED)
def test_stretched_answer_counts_as_none(first: bytes, again: bytes) -> None:
    connections = Connections(timeout_s=0.5)
    with stretching(first, again) as url:
        begun = time.monotonic()
        with pytest.raises(TooLate):
            connections.ask(Place(origins=frozenset({origin(url)})), Request(method="GET", url=url))
        took_s = time.monotonic() - begun
    connections.close()
    # The server would go on for 30 s.
    assert took_s < 15


def test_deadline_belongs_to_a_request_and_its_thread() -> None:
    deadline = Deadline()
    assert deadline.left(3.0, httpcore.ReadTimeout) == 3.0
    with deadline.within(100.0):
        assert deadline.left(3.0, httpcore.ReadTimeout) == 3.0
        assert 99.0 < (deadline.left(None, httpcore.ReadTimeout) or 0.0) <= 100.0
        elsewhere: list[float | None] = []
        thread = threading.Thread(target=lambda: elsewhere.append(deadline.left(None, httpcore.ReadTimeout)))
        thread.start()
        thread.join()
        assert elsewhere == [None]
        with deadline.within(0.0), pytest.raises(httpcore.WriteTimeout):
            deadline.left(3.0, httpcore.WriteTimeout)
    assert deadline.left(None, httpcore.ReadTimeout) is None
