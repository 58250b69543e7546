"""Requests that become whole at one moment: everything is sent but the last bytes, then the last byte of all.

Requests that are merely sent at once arrive over milliseconds, because each connection has its own handshake
and each request its own way through the target. What is left to send here is a few bytes on a connection that
stands, and all of those leave one thread within a fraction of a millisecond.

A server that sleeps is woken by the first byte that comes, and may be quick enough to deal with one request
by itself. So the last bytes of all requests go out in turns: those before the last give the server something
to read on every connection, and meanwhile all the last ones arrive. A gateway that lets others in for one
await was caught by 7 rounds of 20 without this, and by 38 of 40 with it (`benchmarks/README.md`).

A busy machine may still stop the sending thread, and the target answers the first request before the last one
is sent. So every socket is asked, right after the last byte, how many octets lie in it. Requests overlapped
when nothing of an answer was among them; what else a TLS server says by itself is told from an answer by
decrypting so many octets and no more.
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

# A target that takes few connections at a time lets the others wait: they run as soon as they are let in, and
# the next race waits for them no longer than this short time.
PATIENCE_S, SHORT_PATIENCE_S = 2.0, 0.25
MOST_RACERS = 64
# One racer may be lost where at least so many are left.
FEWEST = 8
# So many bytes of each request are held back, and go out one by one.
HELD_BACK = 3
_C_INT = struct.Struct("i")


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What came of one racer; `released_at` is when its last bytes went out, if it was held back.

    One whose answer came `early` had it before the last racer was released.
    """

    answer: Answer | None
    failure: str | None = None
    too_late: bool = False
    begun_at: float
    released_at: float | None = None
    early: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A race that is over, and whether its racers were released together.

    That is so when all of them waited for it, or as many as the target lets in at a time.
    """

    runs: tuple[Run, ...]
    together: bool


class Track:
    """Connections on which every request waits for all the others, a few bytes short of being whole."""

    def __init__(self, *, timeout_s: float) -> None:
        self._line = _Line()
        self._connections = Connections(timeout_s=timeout_s, network=_Network(self._line))

    def close(self) -> None:
        self._connections.close()

    def run(self, entries: Sequence[tuple[Place, Request]]) -> Ended:
        """Sends all requests at one moment; each gives an answer, or says why none came."""
        if not 0 < len(entries) <= MOST_RACERS:
            raise ValueError(f"{len(entries)} racers: expected 1 to {MOST_RACERS}")
        self._line.close()
        with ThreadPoolExecutor(len(entries)) as racers:
            try:
                running = [racers.submit(self._run, place, request) for place, request in entries]
                self._line.gather(len(entries))
            finally:
                # Also when somebody stops the run: nobody may be left waiting for a start that never comes.
                together = self._line.release()
            return Ended(runs=tuple(each.result() for each in running), together=together)

    def _run(self, place: Place, request: Request) -> Run:
        begun = time.monotonic()
        ended = partial(Run, begun_at=begun)
        self._line.enter()
        try:
            answer = self._connections.ask(place, request)
        except TooLate:
            return ended(
                answer=None,
                failure=f"no answer within {time.monotonic() - (self._line.released_at() or begun):.0f} s",
                too_late=True,
                released_at=self._line.released_at(),
                early=self._line.was_early(),
            )
        except (NoAnswer, Unsendable) as none:
            return ended(
                answer=None,
                failure=str(none),
                released_at=self._line.released_at(),
                early=self._line.was_early(),
            )
        finally:
            self._line.leave()
        return ended(answer=answer, released_at=self._line.released_at(), early=self._line.was_early())


@dataclass(kw_only=True, slots=True)
class _Waiting:
    """One request that lacks its last bytes, and what has to be sent for each of them.

    `lay_there` is how many octets its connection held once everybody was released.
    """

    line: socket.socket
    last: tuple[bytes, ...]
    gone: threading.Event
    lay_there: int = 0

    def look(self) -> None:
        """Notes how many octets lie in the socket, below TLS; in one that was closed there are none."""
        with suppress(OSError, ValueError):
            counted = fcntl.ioctl(self.line, termios.FIONREAD, bytes(_C_INT.size))
            self.lay_there = int(_C_INT.unpack(counted)[0])


class _Line:
    """Where racers wait for each other; while it is open, nobody waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._closed = False
        self._waiting: list[_Waiting] = []
        self._left = 0
        self._racers = 0
        self._released_at = 0.0
        # As many as a target was seen to let in at a time; None where it let everybody in.
        self._lets_in: int | None = None
        self._patience_s = PATIENCE_S
        self._own = threading.local()

    def close(self) -> None:
        with self._changed:
            self._closed, self._left = True, 0

    def enter(self) -> None:
        """The racer of this thread has not been released yet."""
        self._own.released_at, self._own.early = None, False

    def leave(self) -> None:
        """The racer of this thread has nothing more to send."""
        with self._changed:
            self._left += 1
            self._changed.notify_all()

    def released_at(self) -> float | None:
        found: float | None = self._own.released_at
        return found

    def was_early(self) -> bool:
        return bool(self._own.early)

    def wait(self, stream: SealingStream, last: tuple[bytes, ...]) -> None:
        """Returns once the last bytes are on their way, sent by whoever releases the race."""
        waiting = _Waiting(line=stream.line, last=last, gone=threading.Event())
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
        self._own.early = stream.holds_an_answer(waiting.lay_there)

    def gather(self, racers: int) -> None:
        """Returns when all are there, or when for a while nobody else has come."""
        with self._changed:
            before, self._racers = -1, racers
            while before < (arrived := len(self._waiting) + self._left) < racers:
                before = arrived
                self._changed.wait(self._patience_s)
            if arrived >= racers:
                self._patience_s, self._lets_in = PATIENCE_S, None
                return
            if self._patience_s == PATIENCE_S:
                self._lets_in = len(self._waiting)
            self._patience_s = SHORT_PATIENCE_S

    def release(self) -> bool:
        """Lets everybody go who waits, and holds up nobody who comes later.

        True when all of them waited, or all but one of more than eight, or as many as the target lets in.
        Whose answer was early, each finds out.
        """
        with self._changed:
            self._closed, waiting = False, self._waiting
            self._waiting, left = [], self._left
        # Nothing but sending in this loop: what it takes is what lies between the first racer and the last.
        self._released_at = time.monotonic()
        try:
            for turn in range(HELD_BACK):
                for each in waiting:
                    _sent(each.line, each.last[turn])
            for each in waiting:
                each.look()
        finally:
            for each in waiting:
                each.gone.set()
        all_but_one = max(self._racers - 1, min(self._racers, FEWEST))
        expected = all_but_one if self._lets_in is None else self._lets_in
        return left <= 1 and 0 < expected <= len(waiting)


def _sent(line: socket.socket, octets: bytes) -> None:
    """Sends so few octets that they fit; a server may have said no and closed, and what it said is read."""
    with suppress(OSError):
        line.send(octets)


class _Held(httpcore.NetworkStream):
    """A connection that keeps back the last bytes of what is written before something is read."""

    def __init__(self, stream: SealingStream, queue: _Line) -> None:
        self._stream = stream
        self._queue = queue
        self._kept = bytearray()

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - sent when read
        self._kept += buffer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._kept:
            octets = bytes(self._kept)
            self._kept.clear()
            # A server may say no and close before all has come; what it said is read below.
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
        return _Held(self._stream.start_tls(ssl_context, server_hostname, timeout), self._queue)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Network(httpcore.NetworkBackend):
    """Opens connections that hold back the last bytes."""

    def __init__(self, queue: _Line) -> None:
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
        return _Held(SealingStream(stream.get_extra_info("socket")), self._queue)
