"""What comes on one connection is kept while something happens on others."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.partial_read import read_while
from gateproof.conformance.wire.route import Place, origin

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@contextmanager
def saying(first: bytes, later: bytes) -> Iterator[tuple[str, threading.Event]]:
    """A server that says the first at once and the rest when it is told to; it never comes to an end."""
    tell, over = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            line, _ = listening.accept()
            with line:
                line.recv(4096)
                line.sendall(first)
                tell.wait(10)
                line.sendall(later)
                over.wait(10)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", tell
        finally:
            over.set()
            thread.join()


def test_what_comes_during_and_after_is_kept() -> None:
    with saying(HEAD + b"5\r\n: a\n\n\r\n", b"5\r\n: b\n\n\r\n") as (url, tell):
        place = Place(origins=frozenset({origin(url)}))
        answer = read_while(place, Request(method="GET", url=url), tell.set)

    assert answer is not None
    assert (answer.status, answer.body) == (200, b": a\n\n: b\n\n")
    assert answer.header("content-type") == "text/event-stream"


def test_what_is_no_answer_is_none() -> None:
    with saying(b"", b"hello\r\n\r\n") as (url, tell):
        place = Place(origins=frozenset({origin(url)}))

        assert read_while(place, Request(method="GET", url=url), tell.set) is None
