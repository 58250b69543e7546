"""Completes many requests at the same moment: first everything except the last bytes, then those.

Requests that are only sent concurrently arrive over several milliseconds, because of their handshakes and
their ways through the target. Here only a few bytes on open connections are left to send, and one thread
sends all of them within a fraction of a millisecond.

The first byte wakes a sleeping server, which may handle one request before the others are complete. So the
last bytes go out in turns: the earlier ones give the server something to read on every connection while the
last ones arrive. A gateway whose race window is one await was caught by 7 rounds of 20 without this, and by
38 of 40 with it (`benchmarks/README.md`).

A busy machine may stop the sending thread, so that the target answers the first request before the last one
is sent. So right after the last byte, the number of received octets is read from every socket. The requests
overlapped if none of these belong to an answer; with TLS, exactly this many octets are decrypted to find out.
"""

from __future__ import annotations

import fcntl
import socket
import ssl
import struct
import termios
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpcore

from gateproof.conformance.wire.connections import Connections, NoAnswer, TooLate, Unsendable
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.route import Place
from gateproof.conformance.wire.sealing import SealingStream

# If a target accepts few connections at a time, the other requests run later. The first race waits for them
# for the longer time, the next ones only for the shorter.
PATIENCE_S, SHORT_PATIENCE_S = 2.0, 0.25
MOST_RACERS = 64
# How long a request may wait for the others of its race.
MOST_HELD_S = 60.0
# In races of more than this, one request may be missing.
FEWEST = 8
# This many bytes of each request are held back, and sent one by one.
HELD_BACK = 3
_C_INT = struct.Struct("i")


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """The result of one request; `released_at` is when its last bytes were sent, if they were held back.

    `early` means that its answer came before the last request was complete.
    """

    answer: Answer | None
    failure: str | None = None
    too_late: bool = False
    begun_at: float
    released_at: float | None = None
    early: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """The result of a race; `together` if its requests were completed together.

    That is so if all of them were ready, or as many as the target accepts at a time.
    """

    runs: tuple[Run, ...]
    together: bool


class Track:
    """Runs races: every request waits for all others before its last bytes are sent."""

    def __init__(self, *, timeout_s: float) -> None:
        self._barrier = _Barrier()
        self._connections = Connections(
            timeout_s=timeout_s, network=_Network(self._barrier), held_s=MOST_HELD_S
        )

    def close(self) -> None:
        self._connections.close()

    def run(self, entries: Sequence[tuple[Place, Request]]) -> Ended:
        """Completes all requests at one moment; each gives an answer or a failure."""
        if not 0 < len(entries) <= MOST_RACERS:
            raise ValueError(f"{len(entries)} racers: expected 1 to {MOST_RACERS}")
        self._barrier.close()
        with ThreadPoolExecutor(len(entries)) as racers:
            try:
                running = [racers.submit(self._run, place, request) for place, request in entries]
                self._barrier.gather(len(entries))
            finally:
                # Also if the run is interrupted: no thread may wait forever.
                together = self._barrier.release()
            return Ended(runs=tuple(each.result() for each in running), together=together)

    def _run(self, place: Place, request: Request) -> Run:
        begun = time.monotonic()
        ended = partial(Run, begun_at=begun)
        self._barrier.enter()
        try:
            answer = self._connections.ask(place, request)
        except TooLate:
            return ended(
                answer=None,
                failure=f"no answer within {time.monotonic() - (self._barrier.released_at() or begun):.0f} s",
                too_late=True,
                released_at=self._barrier.released_at(),
                early=self._barrier.was_early(),
            )
        except (NoAnswer, Unsendable) as none:
            return ended(
                answer=None,
                failure=str(none),
                released_at=self._barrier.released_at(),
                early=self._barrier.was_early(),
            )
        finally:
            self._barrier.leave()
        return ended(answer=answer, released_at=self._barrier.released_at(), early=self._barrier.was_early())


@dataclass(kw_only=True, slots=True)
class _HeldRequest:
    """One request without its last bytes, and what has to be sent for each of them.

    `received` is how many octets its connection had received right after all requests were complete.
    """

    line: socket.socket
    last: tuple[bytes, ...]
    gone: threading.Event
    received: int = 0

    def count_received(self) -> None:
        """Reads how many received octets are in the socket, below TLS; zero if it is closed."""
        with suppress(OSError, ValueError):
            counted = fcntl.ioctl(self.line, termios.FIONREAD, bytes(_C_INT.size))
            self.received = int(_C_INT.unpack(counted)[0])


class _Barrier:
    """A barrier for the requests of a race; while it is open, requests do not wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._closed = False
        self._waiting: list[_HeldRequest] = []
        self._left = 0
        self._racers = 0
        self._released_at = 0.0
        # How many connections the target seems to accept at a time; None if all.
        self._accepts_at_once: int | None = None
        self._patience_s = PATIENCE_S
        self._own = threading.local()

    def close(self) -> None:
        with self._changed:
            self._closed, self._left = True, 0

    def enter(self) -> None:
        """The request of this thread has not been completed yet."""
        self._own.released_at, self._own.early = None, False

    def leave(self) -> None:
        """The request of this thread has nothing more to send."""
        with self._changed:
            self._left += 1
            self._changed.notify_all()

    def released_at(self) -> float | None:
        found: float | None = self._own.released_at
        return found

    def was_early(self) -> bool:
        return bool(self._own.early)

    def wait(self, stream: SealingStream, last: tuple[bytes, ...]) -> None:
        """Returns once the last bytes were sent by the thread that releases the race."""
        waiting = _HeldRequest(line=stream.line, last=last, gone=threading.Event())
        with self._changed:
            if closed := self._closed:
                self._waiting.append(waiting)
                self._changed.notify_all()
        if not closed:
            for each in last:
                _sent(stream.line, each)
            return
        waiting.gone.wait()
        self._own.released_at = self._released_at
        self._own.early = stream.holds_an_answer(waiting.received)

    def gather(self, racers: int) -> None:
        """Waits until all requests are ready, or until no more become ready for a while."""
        with self._changed:
            before, self._racers = -1, racers
            while before < (arrived := len(self._waiting) + self._left) < racers:
                before = arrived
                self._changed.wait(self._patience_s)
            if arrived >= racers:
                self._patience_s, self._accepts_at_once = PATIENCE_S, None
                return
            if self._patience_s == PATIENCE_S:
                self._accepts_at_once = len(self._waiting)
            self._patience_s = SHORT_PATIENCE_S

    def release(self) -> bool:
        """Completes all waiting requests, and opens the barrier.

        True if all of them waited, or all but one of more than eight, or as many as the target accepts at a
        time. Whether an answer was early is found out by each thread.
        """
        with self._changed:
            self._closed, waiting = False, self._waiting
            self._waiting, left = [], self._left
        # Only sending in this loop: its duration is the distance between the first and the last request.
        self._released_at = time.monotonic()
        try:
            for turn in range(HELD_BACK):
                for each in waiting:
                    _sent(each.line, each.last[turn])
            for each in waiting:
                each.count_received()
        finally:
            for each in waiting:
                each.gone.set()
        all_but_one = max(self._racers - 1, min(self._racers, FEWEST))
        expected = all_but_one if self._accepts_at_once is None else self._accepts_at_once
        return left <= 1 and 0 < expected <= len(waiting)


def _sent(line: socket.socket, octets: bytes) -> None:
    """Sends a few octets, which fit the buffer; errors are ignored, because an early answer is read later."""
    with suppress(OSError):
        line.send(octets)


class _HoldingStream(httpcore.NetworkStream):
    """A connection that holds back the last bytes of what is written until something is read."""

    def __init__(self, stream: SealingStream, queue: _Barrier) -> None:
        self._stream = stream
        self._queue = queue
        self._kept = bytearray()

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - sent when read
        self._kept += buffer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._kept:
            octets = bytes(self._kept)
            self._kept.clear()
            # A server may refuse early and close; its answer is read below.
            with suppress(httpcore.WriteError, httpcore.WriteTimeout):
                self._stream.write(octets[:-HELD_BACK], timeout)
            held = tuple(self._stream.seal(bytes([octet])) for octet in octets[-HELD_BACK:])
            self._queue.wait(self._stream, held)
        return self._stream.read(max_bytes, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _HoldingStream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._queue)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Network(httpcore.NetworkBackend):
    """Opens connections that hold back the last bytes."""

    def __init__(self, queue: _Barrier) -> None:
        self._queue = queue
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._sockets.connect_tcp(host, port, timeout, local_address, socket_options)
        return _HoldingStream(SealingStream(stream.get_extra_info("socket")), self._queue)
