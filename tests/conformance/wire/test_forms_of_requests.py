"""Requests in ordinary and odd forms go out as they did through httpcore's connection.

That used h11 for all of them; the expectations were recorded with it.
"""

from __future__ import annotations

from typing import Any

import httpcore
import pytest

from gateproof.conformance.wire.connections import Connections, Unsendable
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place

URL = "http://127.0.0.1:81/x"
PLACE = Place(origins=frozenset({"http://127.0.0.1:81"}))
HOST = b"Host: 127.0.0.1:81\r\n"
OWN = (
    b"Accept: */*\r\n",
    b"Accept-Encoding: gzip\r\n",
    b"Connection: keep-alive\r\n",
    b"User-Agent: gateproof\r\n",
)
# The placeholder is for the harness's own headers.
SENT: dict[str, tuple[Request, bytes]] = {
    "chunked": (
        Request(url=URL, method="POST", headers=(("Transfer-Encoding", "chunked"),), body=b"a=b"),
        b"POST /x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n%b\r\n3\r\na=b\r\n0\r\n\r\n",
    ),
    "chunked and empty": (
        Request(url=URL, method="POST", headers=(("Transfer-Encoding", "chunked"),)),
        b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nTransfer-Encoding: chunked\r\n%b\r\n0\r\n\r\n",
    ),
    "chunked with a length": (
        Request(
            url=URL,
            method="POST",
            headers=(("Transfer-Encoding", "chunked"), ("Content-Length", "3")),
            body=b"a=b",
        ),
        b"POST /x HTTP/1.1\r\n"
        + HOST
        + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n%b\r\n3\r\na=b\r\n0\r\n\r\n",
    ),
    "own length": (
        Request(url=URL, method="POST", headers=(("content-length", "3"),), body=b"a=b"),
        b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\ncontent-length: 3\r\n%b\r\na=b",
    ),
    "same length twice": (
        Request(
            url=URL, method="POST", headers=(("content-length", "3"), ("Content-Length", "3")), body=b"a=b"
        ),
        b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\ncontent-length: 3\r\n%b\r\na=b",
    ),
    "GET with body": (
        Request(url=URL, method="GET", body=b"a=b"),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\n%bContent-Length: 3\r\n\r\na=b",
    ),
    "upgrade": (
        Request(url=URL, method="GET", headers=(("Connection", "Upgrade"), ("Upgrade", "other"))),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nConnection: Upgrade\r\nUpgrade: other\r\n%b\r\n",
    ),
    "closing": (
        Request(url=URL, method="GET", headers=(("Connection", "close"),)),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nConnection: close\r\n%b\r\n",
    ),
    "host last": (
        Request(url=URL, method="GET", headers=(("X-A", "1"), ("hOST", "elsewhere"))),
        b"GET /x HTTP/1.1\r\nhOST: elsewhere\r\nX-A: 1\r\n%b\r\n",
    ),
    "odd method": (
        Request(url=URL, method="M-SEARCH"),
        b"M-SEARCH /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\n%b\r\n",
    ),
    "characters to escape": (
        Request(url='http://127.0.0.1:81/a b/é%2F?q="<{}>|^`\\', method="GET"),
        b"GET /a%%20b/%%C3%%A9%%2F?q=%%22%%3C%%7B%%7D%%3E%%7C%%5E%%60%%5C HTTP/1.1\r\n" + HOST + b"%b\r\n",
    ),
    "characters without escapes": (
        Request(url="http://127.0.0.1:81/a-b_c.d~e!$&'()*+,;=:@?f/?[]%2f", method="GET"),
        b"GET /a-b_c.d~e!$&'()*+,;=:@?f/?[]%%2f HTTP/1.1\r\n" + HOST + b"%b\r\n",
    ),
    "lower case method": (Request(url=URL, method="get"), b"get /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\n%b\r\n"),
    "CONNECT": (Request(url=URL, method="CONNECT"), b"CONNECT /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\n%b\r\n"),
    "target": (
        Request(url=URL, method="GET", target=b"*"),
        b"GET * HTTP/1.1\r\nHost: 127.0.0.1:81\r\n%b\r\n",
    ),
    "expect": (
        Request(url=URL, method="POST", headers=(("Expect", "100-continue"),), body=b"a=b"),
        b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nExpect: 100-continue\r\n%bContent-Length: 3\r\n\r\na=b",
    ),
    "control character": (
        Request(url=URL, method="GET", headers=(("X-A", "a\x01b"),)),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nX-A: a\x01b\r\n%b\r\n",
    ),
    "tab": (
        Request(url=URL, method="GET", headers=(("X-A", "a\tb"),)),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nX-A: a\tb\r\n%b\r\n",
    ),
    "empty value": (
        Request(url=URL, method="GET", headers=(("X-A", ""),)),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nX-A: \r\n%b\r\n",
    ),
    "Latin-1": (
        Request(url=URL, method="GET", headers=(("X-A", "éÿ"),)),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nX-A: \xe9\xff\r\n%b\r\n",
    ),
    "twice": (
        Request(url=URL, method="GET", headers=(("x-a", "1"), ("X-A", "2"))),
        b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:81\r\nx-a: 1\r\nX-A: 2\r\n%b\r\n",
    ),
}
UNSENDABLE: dict[str, Request] = {
    "another transfer encoding": Request(
        url=URL, method="POST", headers=(("Transfer-Encoding", "gzip"),), body=b"a=b"
    ),
    "length too long": Request(url=URL, method="POST", headers=(("Content-Length", "4"),), body=b"a=b"),
    "length too short": Request(url=URL, method="POST", headers=(("Content-Length", "2"),), body=b"a=b"),
    "length no number": Request(url=URL, method="POST", headers=(("Content-Length", "x"),), body=b"a=b"),
    "two hosts": Request(url=URL, method="GET", headers=(("Host", "a"), ("Host", "b"))),
    "method with a space": Request(url=URL, method="GE T"),
    "empty method": Request(url=URL, method=""),
    "target with a space": Request(url=URL, method="GET", target=b"/a b"),
    "target with a line end": Request(url=URL, method="GET", target=b"/a\r\nX: 1"),
    "target beyond ASCII": Request(url=URL, method="GET", target=b"/\xe9"),
    "empty target": Request(url=URL, method="GET", target=b""),
    "tab at the end": Request(url=URL, method="GET", headers=(("X-A", "a\t"),)),
    "space at the beginning": Request(url=URL, method="GET", headers=(("X-A", " a"),)),
    "NUL": Request(url=URL, method="GET", headers=(("X-A", "a\x00b"),)),
    "line end": Request(url=URL, method="GET", headers=(("X-A", "a\r\nX-B: b"),)),
    "empty name": Request(url=URL, method="GET", headers=(("", "a"),)),
    "name with a space": Request(url=URL, method="GET", headers=(("X A", "a"),)),
    "name with a colon": Request(url=URL, method="GET", headers=(("X: A", "a"),)),
    "name beyond ASCII": Request(url=URL, method="GET", headers=(("Xé", "a"),)),
}


class Recording(httpcore.NetworkBackend):
    """Keeps what is written to each connection, and answers every request."""

    def __init__(self) -> None:
        self.connections: list[list[bytes]] = []

    def connect_tcp(self, *_: object) -> httpcore.NetworkStream:
        self.connections.append([])
        return RecordingStream(self.connections[-1])


class RecordingStream(httpcore.NetworkStream):
    def __init__(self, written: list[bytes]) -> None:
        self._written = written

    def write(self, buffer: bytes, _: float | None = None) -> None:
        self._written.append(buffer)

    def read(self, *_: object) -> bytes:
        return b"HTTP/1.1 204 Fine\r\n\r\n"

    def close(self) -> None:
        pass

    def get_extra_info(self, _: str) -> Any:
        return None


def written(request: Request) -> list[list[bytes]]:
    network = Recording()
    connections = Connections(timeout_s=5.0, network=network)
    try:
        connections.ask(PLACE, request)
    finally:
        connections.close()
    return network.connections


@pytest.mark.parametrize(("request_", "octets"), SENT.values(), ids=SENT)
def test_request_is_written_as_before(request_: Request, octets: bytes) -> None:
    given = {name.encode().lower() for name, _ in request_.headers}
    own = b"".join(line for line in OWN if line.partition(b":")[0].lower() not in given)
    assert written(request_) == [[octets % own]]


@pytest.mark.parametrize("request_", UNSENDABLE.values(), ids=UNSENDABLE)
def test_what_http_does_not_allow_opens_no_connection(request_: Request) -> None:
    network = Recording()
    connections = Connections(timeout_s=5.0, network=network)
    with pytest.raises(Unsendable):
        connections.ask(PLACE, request_)
    connections.close()
    assert network.connections == []


def test_long_body_is_written_in_pieces() -> None:
    body = b"x" * 200_000
    ((*pieces,),) = written(Request(url=URL, method="PUT", body=body))
    assert [len(piece) for piece in pieces[:-1]] == [65536] * 3
    assert b"".join(pieces).endswith(b"Content-Length: 200000\r\n\r\n" + body)
