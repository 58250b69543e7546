"""A TLS connection is read while it is written to, and what is too late says so."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import trustme

from gateproof.conformance.wire.duplex_tls import DuplexConnection

PIECES, PIECE = 2000, 48 * b"x"


@pytest.fixture(scope="module")
def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


@pytest.fixture
def ends(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> Iterator[tuple[ssl.SSLSocket, ssl.SSLSocket]]:
    """The two ends of a TLS connection."""
    near, far = socket.socketpair()
    found: list[ssl.SSLSocket] = []

    def accept() -> None:
        found.append(contexts[0].wrap_socket(far, server_side=True))

    accepting = threading.Thread(target=accept)
    accepting.start()
    with ExitStack() as stack:
        here = stack.enter_context(contexts[1].wrap_socket(near, server_hostname="127.0.0.1"))
        accepting.join()
        there = stack.enter_context(found[0])
        there.settimeout(10)
        yield here, there


def test_what_comes_while_much_is_written_is_no_end(ends: tuple[ssl.SSLSocket, ssl.SSLSocket]) -> None:
    """Where two threads share a bare SSLSocket, a reader now and then sees an end that is none."""
    here, there = ends
    both = DuplexConnection(here, timeout_s=10)

    def answer() -> None:
        came = 0
        while came < PIECES * len(PIECE) and (octets := there.recv(4096)):
            came += len(octets)
            there.sendall(octets)

    def write() -> None:
        for _ in range(PIECES):
            both.sendall(PIECE)

    threads = [threading.Thread(target=answer), threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    read, buffer = 0, bytearray(4096)
    while read < PIECES * len(PIECE) and (got := both.readinto(memoryview(buffer))):
        read += got
    for thread in threads:
        thread.join()

    assert read == PIECES * len(PIECE)


def test_silence_is_a_time_out(ends: tuple[ssl.SSLSocket, ssl.SSLSocket]) -> None:
    both = DuplexConnection(ends[0], timeout_s=0.05)

    with pytest.raises(TimeoutError):
        both.readinto(memoryview(bytearray(1)))


def test_a_reader_that_reads_nothing_is_a_time_out(ends: tuple[ssl.SSLSocket, ssl.SSLSocket]) -> None:
    both = DuplexConnection(ends[0], timeout_s=0.05)

    with pytest.raises(TimeoutError):
        both.sendall(b"x" * 50_000_000)


def test_an_end_is_an_end(ends: tuple[ssl.SSLSocket, ssl.SSLSocket]) -> None:
    both = DuplexConnection(ends[0], timeout_s=10)
    ends[1].shutdown(socket.SHUT_WR)

    assert both.readinto(memoryview(bytearray(1))) == 0
