"""A request goes out as it was written, and an answer is taken apart no further than the transfer."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gateproof.conformance.wire.connections import MAX_BODY, Connections, NoAnswer, TooLate, Unsendable
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.route import Place

OK = b"HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\n{}"


@contextmanager
def listener(answer: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """Takes one connection, keeps the head of its request, and sends these bytes; None: stays silent."""
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(4096)
                heads.append(head)
                if answer is None:
                    connection.recv(1)
                else:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", heads
        finally:
            thread.join(10)


def ask(url: str, request: Request, *, timeout_s: float = 5.0) -> Answer:
    connections = Connections(timeout_s=timeout_s)
    try:
        return connections.ask(Place(origins=frozenset({url})), request)
    finally:
        connections.close()


def lines_of(path: str, **request: object) -> list[bytes]:
    with listener(OK) as (url, heads):
        ask(url, Request(**{"method": "GET", "url": url + path, **request}))  # type: ignore[arg-type]
    return heads[0].split(b"\r\n")


def test_headers_of_its_own_go_along() -> None:
    lines = lines_of("")
    assert lines[0] == b"GET / HTTP/1.1"
    assert lines[1].startswith(b"Host: 127.0.0.1:")
    assert {b"Accept: */*", b"User-Agent: gateproof"} <= set(lines)
    assert not any(line.startswith(b"Content-Length") for line in lines)


def test_a_request_may_go_out_without_accept() -> None:
    lines = lines_of("/", accept=False)
    assert not any(line.lower().startswith(b"accept:") for line in lines)
    assert b"User-Agent: gateproof" in lines


def test_headers_of_the_request_take_their_place() -> None:
    lines = lines_of("/", headers=(("accept", "text/html"), ("HOST", "elsewhere.test"), ("X-Name", "é")))
    assert sorted(line for line in lines if line.lower().startswith((b"accept:", b"host:"))) == [
        b"HOST: elsewhere.test",
        b"accept: text/html",
    ]
    assert "X-Name: é".encode("latin-1") in lines


def test_a_post_says_how_long_its_body_is() -> None:
    assert b"Content-Length: 0" in lines_of("/", method="POST")
    assert b"Content-Length: 3" in lines_of("/", method="POST", body=b"a=b")


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/a%2Fb?c=%20&d=[1]", b"/a%2Fb?c=%20&d=[1]"),
        ("/a b?c={d}|<e>", b"/a%20b?c=%7Bd%7D%7C%3Ce%3E"),
        ("/é?ü", b"/%C3%A9?%C3%BC"),
        ("?x=1", b"/?x=1"),
    ],
)
def test_only_what_no_request_line_takes_is_encoded(path: str, sent: bytes) -> None:
    assert lines_of(path)[0] == b"GET " + sent + b" HTTP/1.1"


def test_a_target_goes_out_byte_for_byte() -> None:
    assert lines_of("/", target=b"/a|b")[0] == b"GET /a|b HTTP/1.1"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", gzip.compress(b"clear", mtime=0)), ("deflate", zlib.compress(b"clear"))],
    ids=["gzip", "deflate"],
)
def test_a_compressed_body_is_read(encoding: str, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
    with listener(head.encode() + body) as (url, _):
        assert ask(url, Request(method="GET", url=url)).body == b"clear"


def test_a_body_that_swells_is_not_swallowed() -> None:
    body = gzip.compress(bytes(MAX_BODY * 4))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    with listener(head.encode() + body) as (url, _), pytest.raises(NoAnswer, match="longer than"):
        ask(url, Request(method="GET", url=url))


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["no HTTP", "nothing", "cut short", "not compressed"],
)
def test_what_is_no_answer_is_said_in_our_own_words(answer: bytes) -> None:
    with listener(answer) as (url, _), pytest.raises(NoAnswer) as none:
        ask(url, Request(method="GET", url=f"{url}/?code=of-nobodys-business"))
    assert "nobodys-business" not in str(none.value)


def test_silence_is_not_a_refused_connection() -> None:
    with listener(None) as (url, _), pytest.raises(TooLate) as late:
        ask(url, Request(method="GET", url=url), timeout_s=0.2)
    assert late.value.connected


@pytest.mark.parametrize("value", ["ends in a space ", "two\nlines", "\u20ac"])
def test_header_that_http_cannot_carry_is_never_sent(value: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        request = Request(method="GET", url=url, headers=(("X-Proxy-Token", value),))
        with pytest.raises(Unsendable):
            ask(url, request)


@contextmanager
def hanging_up(answered: list[int]) -> Iterator[tuple[str, list[list[bytes]]]]:
    """Each connection takes requests, answers as many as the list says, and ends when one more has come."""
    taken: list[list[bytes]] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answers in answered:
                connection, _ = listening.accept()
                taken.append([])
                with connection:
                    while (head := connection.recv(4096)) and len(taken[-1]) < answers:
                        taken[-1].append(head)
                        connection.sendall(OK)
                    taken[-1].append(head)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", taken
        finally:
            thread.join(10)


def test_request_on_a_kept_connection_that_ends_goes_out_once_more_on_a_new_one() -> None:
    with hanging_up([1, 1]) as (url, taken):
        connections = Connections(timeout_s=5.0)
        place = Place(origins=frozenset({url}))
        first = connections.ask(place, Request(method="GET", url=f"{url}/a"))
        second = connections.ask(place, Request(method="POST", url=f"{url}/b"))
        connections.close()

    assert (first.resent, second.resent) == (False, True)
    assert [[head.split()[1] for head in heads if head] for heads in taken] == [[b"/a", b"/b"], [b"/b"]]


def test_request_on_a_new_connection_that_ends_has_no_answer() -> None:
    with hanging_up([0]) as (url, _), pytest.raises(NoAnswer, match="closed"):
        ask(url, Request(method="GET", url=url))


def test_request_goes_out_no_more_than_twice() -> None:
    with hanging_up([1, 0]) as (url, taken):
        connections = Connections(timeout_s=5.0)
        place = Place(origins=frozenset({url}))
        connections.ask(place, Request(method="GET", url=f"{url}/a"))
        with pytest.raises(NoAnswer, match="closed"):
            connections.ask(place, Request(method="GET", url=f"{url}/b"))
        connections.close()

    assert [len(heads) for heads in taken] == [2, 1]
