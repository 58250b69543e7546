"""The byte-level proxy passes everything on, and does to it what it is told to, and counts that."""

from __future__ import annotations

import os
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import trustme

from gateproof.conformance.faults import toxics
from gateproof.conformance.faults.byte_proxy import ByteProxy, byte_proxy
from gateproof.conformance.faults.tls_records import Asked
from gateproof.conformance.faults.toxics import Toxic, Way

ANSWER = bytes(range(256)) * 8
QUESTION = b"what is it?\n"
SOON_S = 5.0


class _Answering(socketserver.StreamRequestHandler):
    """Every line gets the same answer; an end of lines gets a last word."""

    def handle(self) -> None:
        try:
            while self.rfile.readline():
                self.wfile.write(ANSWER)
            self.wfile.write(b"bye")
        except OSError:
            pass


@pytest.fixture(scope="module")
def upstream() -> Iterator[tuple[str, int]]:
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), _Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield "127.0.0.1", server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(upstream: tuple[str, int]) -> Iterator[ByteProxy]:
    with byte_proxy(upstream) as running:
        yield running
        assert running.troubles == ()


def connected(proxy: ByteProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=SOON_S)


def received(line: socket.socket, most: int = len(ANSWER)) -> tuple[bytes, str]:
    """What comes, and how it ended: whole, by a close, by a reset or by silence."""
    found = bytearray()
    try:
        while len(found) < most:
            octets = line.recv(most - len(found))
            if not octets:
                return bytes(found), "closed"
            found += octets
    except TimeoutError:
        return bytes(found), "silent"
    except ConnectionError:
        return bytes(found), "reset"
    return bytes(found), "whole"


def asked(proxy: ByteProxy) -> tuple[bytes, str]:
    try:
        with connected(proxy) as line:
            line.sendall(QUESTION)
            return received(line)
    except ConnectionError:
        return b"", "reset"


def test_nothing_armed_changes_nothing(proxy: ByteProxy) -> None:
    with connected(proxy) as line:
        for _ in range(3):
            line.sendall(QUESTION)
            assert received(line) == (ANSWER, "whole")
        line.shutdown(socket.SHUT_WR)
        assert received(line) == (b"bye", "closed")

    assert proxy.connections == 1


@pytest.mark.parametrize(
    ("toxic", "left", "ended"),
    [
        (toxics.down(), 0, "reset"),
        (toxics.reset(), 0, "reset"),
        (toxics.reset(way=Way.THERE), 0, "reset"),
        (toxics.timeout(0.05), 0, "reset"),
        (toxics.timeout(0.05, after=10), 10, "reset"),
        (toxics.closed(), 0, "closed"),
        (toxics.closed(way=Way.THERE), 0, "closed"),
        (toxics.truncated(1001), 1001, "closed"),
        (toxics.half_closed(after=17), 17, "closed"),
        (toxics.half_closed(way=Way.THERE), 3, "closed"),
        (toxics.limited(len(QUESTION) + 5), 5, "closed"),
        (toxics.truncated(7, asked=True), 7, "closed"),
    ],
    ids=lambda given: f"{given.kind}-{given.way}" if isinstance(given, Toxic) else None,
)
def test_what_ends_a_connection_ends_it_there_and_is_counted(
    proxy: ByteProxy, toxic: Toxic, left: int, ended: str
) -> None:
    proxy.arm(toxic)

    octets, how = asked(proxy)

    assert (len(octets), how) == (left, ended)
    assert proxy.fired(toxic) == 1


@pytest.mark.parametrize(
    "toxic",
    [
        toxics.latency(0.05, jitter_s=0.05),
        toxics.bandwidth(100_000),
        toxics.sliced(100),
        toxics.sliced(1),
        toxics.latency(0.01, way=Way.THERE),
    ],
    ids=lambda toxic: f"{toxic.kind}-{toxic.octets}",
)
def test_what_slows_a_connection_loses_nothing_and_is_counted(proxy: ByteProxy, toxic: Toxic) -> None:
    proxy.arm(toxic)

    assert asked(proxy) == (ANSWER, "whole")
    assert proxy.fired(toxic) == 1


def test_latency_and_bandwidth_take_their_time(proxy: ByteProxy) -> None:
    for toxic in (toxics.latency(0.2), toxics.bandwidth(10_000)):
        proxy.arm(toxic)
        begun = time.monotonic()
        asked(proxy)

        assert time.monotonic() - begun >= 0.2


@pytest.mark.parametrize(
    "toxic",
    [
        toxics.truncated(len(ANSWER)),
        toxics.half_closed(after=len(ANSWER)),
        toxics.timeout(1, after=len(ANSWER)),
        toxics.limited(10_000),
        toxics.reset(way=Way.THERE, after=len(QUESTION)),
    ],
    ids=lambda toxic: toxic.kind.value,
)
def test_what_is_never_reached_never_fires(proxy: ByteProxy, toxic: Toxic) -> None:
    proxy.arm(toxic)

    with connected(proxy) as line:
        line.sendall(QUESTION)

        assert received(line) == (ANSWER, "whole")
        # Before the line ends: the last word that follows would lie beyond what the toxics let through.
        assert proxy.fired(toxic) == 0


def test_close_on_a_way_that_nothing_goes_never_fires(proxy: ByteProxy) -> None:
    toxic = toxics.closed(way=Way.THERE)
    proxy.arm(toxic)

    with connected(proxy):
        pass

    assert proxy.fired(toxic) == 0


def test_down_that_nobody_meets_never_fires(proxy: ByteProxy) -> None:
    proxy.arm(toxics.down())
    proxy.arm()

    assert asked(proxy) == (ANSWER, "whole")
    assert proxy.fired(toxics.down()) == 0


def test_a_tape_is_used_up_connection_by_connection(proxy: ByteProxy) -> None:
    lost, cut = toxics.reset(), toxics.truncated(3)
    proxy.arm_tape([[lost], [], [cut]])

    ends = [asked(proxy)[1] for _ in range(5)]

    assert ends == ["reset", "whole", "closed", "whole", "whole"]
    assert (proxy.fired(lost), proxy.fired(cut)) == (1, 1)


def test_arming_ends_what_is_open_and_disarming_heals(proxy: ByteProxy) -> None:
    with connected(proxy) as before:
        before.sendall(QUESTION)
        assert received(before)[1] == "whole"
        proxy.arm(toxics.reset())
        assert received(before)[1] in {"closed", "reset"}
    assert asked(proxy)[1] == "reset"

    proxy.arm()

    assert asked(proxy) == (ANSWER, "whole")


def test_a_half_closed_way_leaves_the_other_open(proxy: ByteProxy) -> None:
    proxy.arm(toxics.half_closed(way=Way.BACK))
    with connected(proxy) as line:
        line.sendall(QUESTION)
        assert received(line) == (b"", "closed")

        # The party asked still reads: were it cut off, this would soon be an error.
        for _ in range(3):
            line.sendall(QUESTION)


def test_a_party_that_is_not_there_is_the_proxys_trouble() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with byte_proxy(taken.getsockname()) as running:
            assert asked(running)[1] in {"closed", "reset"}
            assert len(running.troubles) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": toxics.Kind.LATENCY, "seconds": 61},
        {"kind": toxics.Kind.LATENCY, "seconds": 1, "jitter_s": 2},
        {"kind": toxics.Kind.SLICE},
        {"kind": toxics.Kind.RESET, "after": -1},
    ],
)
def test_a_toxic_without_bounds_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Toxic(**wrong)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[tuple[str, int], ssl.SSLContext]]:
    authority = trustme.CA()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(serving)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    class Secure(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def get_request(self) -> tuple[socket.socket, object]:
            plain, address = super().get_request()
            plain.settimeout(SOON_S)
            return serving.wrap_socket(plain, server_side=True, do_handshake_on_connect=False), address

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that is cut off is what these tests are about."""

    with Secure(("127.0.0.1", 0), _Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield ("127.0.0.1", server.server_address[1]), trusting
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("oldest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_passes_and_a_toxic_can_wait_until_something_was_asked(
    secure: tuple[tuple[str, int], ssl.SSLContext], oldest: ssl.TLSVersion
) -> None:
    address, trusting = secure
    trusting.maximum_version = oldest
    lost = toxics.closed(asked=True)
    with byte_proxy(address) as running:
        for armed in ((), (lost,)):
            running.arm(*armed)
            with (
                connected(running) as plain,
                trusting.wrap_socket(plain, server_hostname="127.0.0.1") as line,
            ):
                line.sendall(b"q" * 300 + b"\n")
                if armed:
                    with suppress(ssl.SSLEOFError, ConnectionError):
                        assert line.recv(1) == b""
                else:
                    assert received(line)[1] == "whole"
        assert running.fired(lost) == 1
        assert running.troubles == ()


def test_a_request_is_told_from_a_handshake_however_it_is_sliced() -> None:
    hello = b"\x16\x03\x01\x02\x00" + bytes(512)
    finished = b"\x17\x03\x03\x00\x45" + bytes(69)
    request = b"\x17\x03\x03\x01\x00" + bytes(256)
    for size in (1, 3, 7, 1000):
        reading, sent = Asked(), hello + finished
        seen = [reading.feed(sent[start : start + size]) for start in range(0, len(sent), size)]
        assert not any(seen)
        seen = [reading.feed(request[start : start + size]) for start in range(0, len(request), size)]
        assert seen[-1]
    assert Asked().feed(b"POST / HTTP/1.1\r\n")


def test_many_connections_at_once_leave_nothing_open(upstream: tuple[str, int]) -> None:
    def descriptors() -> set[str]:
        listed = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []  # noqa: PTH112, PTH208
        # Listing takes one itself.
        return {number for number in listed if os.path.exists(f"/proc/self/fd/{number}")}  # noqa: PTH110

    before, threads = descriptors(), threading.active_count()
    with byte_proxy(upstream) as running:
        lines = [connected(running) for _ in range(50)]
        for line in lines:
            line.sendall(QUESTION)
        assert {received(line)[1] for line in lines} == {"whole"}
        running.arm(toxics.timeout(60))
        stuck = connected(running)
        stuck.sendall(QUESTION)
    for line in (*lines, stuck):
        line.close()
    # The serving side is in this process, too, and takes its time to notice.
    deadline = time.monotonic() + SOON_S
    while (threading.active_count() > threads or descriptors() - before) and time.monotonic() < deadline:
        time.sleep(0.01)

    assert threading.active_count() <= threads
    assert descriptors() - before == set()
