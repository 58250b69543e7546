"""Answers in ordinary and odd forms mean what they meant to httpcore's connection.

That read all of them with h11; the expectations were recorded with it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest

from gateproof.conformance.wire.connections import MAX_BODY, Connections, NoAnswer
from gateproof.conformance.wire.exchange import Headers, Request
from gateproof.conformance.wire.route import Place

HEAD = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Length: 2\r\n\r\n{}"
NOT_HTTP = "the connection was closed, or what came over it is not HTTP"
TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Case:
    """Octets of a server, and status, reason, headers and body of the answer that they are."""

    octets: bytes
    answer: tuple[int, str, Headers, bytes]
    method: str = "GET"
    # The server closes the connection behind the octets.
    ends: bool = False
    # The connection is used for the next request.
    kept: bool = True


ANSWERS = {
    "ordinary": Case(
        HEAD + b"Content-Type: application/json\r\n" + JSON,
        (200, "OK", (("Content-Type", "application/json"), ("Content-Length", "2")), b"{}"),
    ),
    "no body": Case(HEAD + b"Content-Length: 0\r\n\r\n", (200, "OK", (("Content-Length", "0"),), b"")),
    "no reason": Case(b"HTTP/1.1 404 \r\n" + JSON, (404, "", (("Content-Length", "2"),), b"{}")),
    "no space after the status": Case(
        b"HTTP/1.1 404\r\n" + JSON, (404, "", (("Content-Length", "2"),), b"{}")
    ),
    "reason with spaces": Case(
        b"HTTP/1.1 200  Very  fine \r\n" + JSON, (200, " Very  fine ", (("Content-Length", "2"),), b"{}")
    ),
    "reason in Latin-1": Case(
        b"HTTP/1.1 200 Sch\xf6n\r\n" + JSON, (200, "Schön", (("Content-Length", "2"),), b"{}")
    ),
    "reason with a control character": Case(
        b"HTTP/1.1 200 O\x01K\r\n" + JSON, (200, "O\x01K", (("Content-Length", "2"),), b"{}")
    ),
    "case and order of headers": Case(
        HEAD + b"x-b: 1\r\nX-A: 2\r\nX-b: 3\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n" + JSON,
        (
            200,
            "OK",
            (
                ("x-b", "1"),
                ("X-A", "2"),
                ("X-b", "3"),
                ("Set-Cookie", "a=1"),
                ("set-cookie", "b=2"),
                ("Content-Length", "2"),
            ),
            b"{}",
        ),
    ),
    "value in Latin-1": Case(
        HEAD + b"X: \xe9t\xe9\r\n" + JSON, (200, "OK", (("X", "été"), ("Content-Length", "2")), b"{}")
    ),
    "value with a control character": Case(
        HEAD + b"X: a\x01b\r\n" + JSON, (200, "OK", (("X", "a\x01b"), ("Content-Length", "2")), b"{}")
    ),
    "empty value": Case(
        HEAD + b"X:\r\nY: \r\n" + JSON, (200, "OK", (("X", ""), ("Y", ""), ("Content-Length", "2")), b"{}")
    ),
    "no space after the colon": Case(
        HEAD + b"X:1\r\n" + JSON, (200, "OK", (("X", "1"), ("Content-Length", "2")), b"{}")
    ),
    "spaces around the value": Case(
        HEAD + b"X: \t 1 2 \t\r\n" + JSON, (200, "OK", (("X", "1 2"), ("Content-Length", "2")), b"{}")
    ),
    "tab in a value": Case(
        HEAD + b"X: 1\t2\r\n" + JSON, (200, "OK", (("X", "1\t2"), ("Content-Length", "2")), b"{}")
    ),
    "folded header": Case(
        HEAD + b"X: 1\r\n  2\r\n" + JSON, (200, "OK", (("X", "1 2"), ("Content-Length", "2")), b"{}")
    ),
    "bare line feeds": Case(
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", (200, "OK", (("Content-Length", "2"),), b"{}")
    ),
    "mixed line ends": Case(
        HEAD + b"X: 1\n" + JSON, (200, "OK", (("X", "1"), ("Content-Length", "2")), b"{}")
    ),
    "HTTP/1.0": Case(
        b"HTTP/1.0 200 OK\r\n" + JSON, (200, "OK", (("Content-Length", "2"),), b"{}"), kept=False
    ),
    "HTTP/1.0 until the end": Case(
        b"HTTP/1.0 200 OK\r\n\r\nall of it", (200, "OK", (), b"all of it"), ends=True, kept=False
    ),
    "HTTP/2.0": Case(b"HTTP/2.0 200 OK\r\n" + JSON, (200, "OK", (("Content-Length", "2"),), b"{}")),
    "status 999": Case(b"HTTP/1.1 999 Odd\r\n" + JSON, (999, "Odd", (("Content-Length", "2"),), b"{}")),
    "interim answers": Case(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\n" + JSON,
        (200, "OK", (("Content-Length", "2"),), b"{}"),
    ),
    "204": Case(b"HTTP/1.1 204 No Content\r\n\r\n", (204, "No Content", (), b"")),
    "204 with a length": Case(
        b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n",
        (204, "No Content", (("Content-Length", "2"),), b""),
    ),
    "304 with a length": Case(
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
        (304, "Not Modified", (("Content-Length", "2"),), b""),
    ),
    "HEAD": Case(
        HEAD + b"Content-Length: 2\r\n\r\n", (200, "OK", (("Content-Length", "2"),), b""), method="HEAD"
    ),
    "HEAD without a length": Case(HEAD + b"\r\n", (200, "OK", (), b""), method="HEAD"),
    "HEAD with chunks": Case(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
        (200, "OK", (("Transfer-Encoding", "chunked"),), b""),
        method="HEAD",
    ),
    "CONNECT": Case(HEAD + b"\r\n", (200, "OK", (), b""), method="CONNECT", kept=False),
    "body until the end": Case(HEAD + b"\r\nall of it", (200, "OK", (), b"all of it"), ends=True, kept=False),
    "chunks": Case(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        (200, "OK", (("Transfer-Encoding", "chunked"),), b"{}"),
    ),
    "chunks with extensions and trailers": Case(
        HEAD + b"Transfer-Encoding: Chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n",
        (200, "OK", (("Transfer-Encoding", "chunked"),), b"{}"),
    ),
    "chunks and a length": Case(
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        (200, "OK", (("Transfer-Encoding", "chunked"), ("Content-Length", "9")), b"{}"),
    ),
    "the same length twice": Case(
        HEAD + b"content-length: 2\r\n" + JSON, (200, "OK", (("content-length", "2"),), b"{}")
    ),
    "the same length in a list": Case(
        HEAD + b"Content-Length: 2, 2\r\n\r\n{}", (200, "OK", (("Content-Length", "2"),), b"{}")
    ),
    "length with zeros": Case(
        HEAD + b"Content-Length: 002\r\n\r\n{}", (200, "OK", (("Content-Length", "002"),), b"{}")
    ),
    "closing": Case(
        HEAD + b"Connection: close\r\n" + JSON,
        (200, "OK", (("Connection", "close"), ("Content-Length", "2")), b"{}"),
        kept=False,
    ),
    "closing among others": Case(
        HEAD + b"Connection: x, Close\r\n" + JSON,
        (200, "OK", (("Connection", "x, Close"), ("Content-Length", "2")), b"{}"),
        kept=False,
    ),
    "keeping": Case(
        HEAD + b"Connection: Keep-Alive\r\n" + JSON,
        (200, "OK", (("Connection", "Keep-Alive"), ("Content-Length", "2")), b"{}"),
    ),
    "a long head": Case(
        HEAD + b"X-Long: " + b"x" * 60_000 + b"\r\n" + JSON,
        (200, "OK", (("X-Long", "x" * 60_000), ("Content-Length", "2")), b"{}"),
    ),
    "a long body": Case(
        HEAD + b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000,
        (200, "OK", (("Content-Length", "200000"),), b"x" * 200_000),
    ),
}
# The server closes the connection behind each of these.
REFUSED = {
    "value with NUL": HEAD + b"X: a\x00b\r\n" + JSON,
    "value with a lone CR": HEAD + b"X: a\rb\r\n" + JSON,
    "space before the colon": HEAD + b"X : 1\r\n" + JSON,
    "space in a name": HEAD + b"X Y: 1\r\n" + JSON,
    "name in Latin-1": HEAD + b"X\xe9: 1\r\n" + JSON,
    "empty name": HEAD + b": 1\r\n" + JSON,
    "no colon": HEAD + b"nothing\r\n" + JSON,
    "folded first header": HEAD + b" X: 1\r\n" + JSON,
    "empty line first": b"\r\nHTTP/1.1 200 OK\r\n" + JSON,
    "HTTP/1.10": b"HTTP/1.10 200 OK\r\n" + JSON,
    "lower case": b"http/1.1 200 OK\r\n" + JSON,
    "not HTTP": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "status of two digits": b"HTTP/1.1 20 OK\r\n" + JSON,
    "status of four digits": b"HTTP/1.1 2000 OK\r\n" + JSON,
    "status 099": b"HTTP/1.1 099 OK\r\n" + JSON,
    "status in letters": b"HTTP/1.1 abc OK\r\n" + JSON,
    "two spaces before the status": b"HTTP/1.1  200 OK\r\n" + JSON,
    "interim answer only": b"HTTP/1.1 100 Continue\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\nhello",
    "body cut short": HEAD + b"Content-Length: 9\r\n\r\n{}",
    "nothing": b"",
    "half a status line": b"HTTP/1.1 20",
    "half a head": HEAD + b"X: 1\r\n",
    "chunks cut short": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}",
    "chunk of a bad size": HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n",
    "chunk of another size": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "another transfer encoding": HEAD + b"Transfer-Encoding: gzip\r\n" + JSON,
    "two transfer encodings": HEAD
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 3\r\n" + JSON,
    "negative length": HEAD + b"Content-Length: -1\r\n\r\n{}",
    "signed length": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "length of 21 digits": HEAD + b"Content-Length: 000000000000000000002\r\n\r\n{}",
    "empty length": HEAD + b"Content-Length:\r\n\r\n{}",
}


@contextmanager
def serving(octets: bytes, *, ends: bool) -> Iterator[tuple[str, list[int]]]:
    """Answers the first request with these octets, the others with JSON; numbers the connection of each."""
    numbers: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer(connection: socket.socket, number: int) -> None:
            with connection, suppress(OSError):
                while connection.recv(65536):
                    numbers.append(number)
                    connection.sendall(octets if len(numbers) == 1 else HEAD + JSON)
                    if ends:
                        return

        def serve() -> None:
            with suppress(OSError):
                for number in range(2):
                    accepted, _ = listening.accept()
                    answering.append(threading.Thread(target=answer, args=(accepted, number)))
                    answering[-1].start()

        answering: list[threading.Thread] = []
        accepting = threading.Thread(target=serve)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", numbers
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *answering):
                thread.join(10)


@contextmanager
def connections() -> Iterator[Connections]:
    opened = Connections(timeout_s=TIMEOUT_S)
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.parametrize("case", ANSWERS.values(), ids=ANSWERS)
def test_answer_is_read_as_before(case: Case) -> None:
    with serving(case.octets, ends=case.ends) as (url, numbers), connections() as opened:
        place = Place(origins=frozenset({url}))
        answer = opened.ask(place, Request(method=case.method, url=url))
        opened.ask(place, Request(method="GET", url=url))
    assert (answer.status, answer.phrase, answer.headers, answer.body) == case.answer
    assert numbers == [0, 0 if case.kept and not case.ends else 1]


@pytest.mark.parametrize("octets", REFUSED.values(), ids=REFUSED)
def test_what_was_no_answer_is_none(octets: bytes) -> None:
    with serving(octets, ends=True) as (url, _), connections() as opened, pytest.raises(NoAnswer) as none:
        opened.ask(Place(origins=frozenset({url})), Request(method="GET", url=url))
    assert str(none.value) == NOT_HTTP


@pytest.mark.parametrize(
    ("octets", "failure"),
    [
        (HEAD + b"X-Long: " + b"x" * 120_000, NOT_HTTP),
        (
            HEAD + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1) + bytes(MAX_BODY + 1),
            f"no answer: the body is longer than {MAX_BODY} bytes",
        ),
    ],
    ids=["head", "body"],
)
def test_endless_answer_is_not_read_on(octets: bytes, failure: str) -> None:
    with serving(octets, ends=False) as (url, _), connections() as opened, pytest.raises(NoAnswer) as none:
        opened.ask(Place(origins=frozenset({url})), Request(method="GET", url=url))
    assert str(none.value) == failure


@pytest.mark.parametrize("first", [HEAD + JSON, HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
def test_surplus_answer_does_not_answer_the_next_request(first: bytes) -> None:
    surplus = b"HTTP/1.1 403 Surplus\r\n" + JSON
    with serving(first + surplus, ends=False) as (url, numbers), connections() as opened:
        place = Place(origins=frozenset({url}))
        statuses = [opened.ask(place, Request(method="GET", url=url)).status for _ in range(2)]
    assert statuses == [200, 200]
    assert numbers == [0, 1]


def test_connection_whose_answer_was_left_early_is_not_used_again() -> None:
    with serving(HEAD + JSON, ends=False) as (url, numbers), connections() as opened:
        place = Place(origins=frozenset({url}))
        opened.ask(place, Request(method="GET", url=url, until=lambda body: body == b"{}"))
        opened.ask(place, Request(method="GET", url=url))
    assert numbers == [0, 1]
