"""Requests that become whole at one moment: everything is sent but the last byte, then all last bytes.

Requests that are merely sent at once arrive over milliseconds, because each connection has its own handshake
and each request its own way through the target. What is left to send here is one byte on a connection that
stands, and all of those bytes leave one thread within a fraction of a millisecond.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpcore

from conformance.wire.connections import Connections, NoAnswer, TooLate, Unsendable
from conformance.wire.exchange import Answer, Request
from conformance.wire.place import Place

# A target that takes few connections at a time lets the others wait: they run as soon as they are let in, and
# the next race waits for them no longer than this short time.
PATIENCE_S, SHORT_PATIENCE_S = 2.0, 0.25
MOST_RACERS = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What came of one racer; `released_at` is when its last byte went out, if it was held back for that."""

    answer: Answer | None
    failure: str | None = None
    too_late: bool = False
    begun_at: float
    released_at: float | None = None


class Track:
    """Connections on which every request waits for all the others, one byte short of being whole."""

    def __init__(self, *, timeout_s: float) -> None:
        self._line = _Line()
        self._connections = Connections(timeout_s=timeout_s, network=_Network(self._line))

    def close(self) -> None:
        self._connections.close()

    def run(self, entries: Sequence[tuple[Place, Request]]) -> tuple[Run, ...]:
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
                self._line.release()
            return tuple(each.result() for each in running)

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
            )
        except (NoAnswer, Unsendable) as none:
            return ended(answer=None, failure=str(none), released_at=self._line.released_at())
        finally:
            self._line.leave()
        return ended(answer=answer, released_at=self._line.released_at())


@dataclass(slots=True)
class _Waiting:
    """One request that lacks its last byte."""

    send: Callable[[], None]
    gone: threading.Event
    released_at: float = 0.0


class _Line:
    """Where racers wait for each other; while it is open, nobody waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._closed = False
        self._waiting: list[_Waiting] = []
        self._left = 0
        self._patience_s = PATIENCE_S
        self._own = threading.local()

    def close(self) -> None:
        with self._changed:
            self._closed, self._left = True, 0

    def enter(self) -> None:
        """The racer of this thread has not been released yet."""
        self._own.released_at = None

    def leave(self) -> None:
        """The racer of this thread has nothing more to send."""
        with self._changed:
            self._left += 1
            self._changed.notify_all()

    def released_at(self) -> float | None:
        found: float | None = self._own.released_at
        return found

    def wait(self, send: Callable[[], None]) -> None:
        """Returns once the last byte is on its way, sent by whoever releases the race."""
        waiting = _Waiting(send=send, gone=threading.Event())
        with self._changed:
            if closed := self._closed:
                self._waiting.append(waiting)
                self._changed.notify_all()
        if closed:
            waiting.gone.wait()
            self._own.released_at = waiting.released_at
        else:
            send()

    def gather(self, racers: int) -> None:
        """Returns when all are there, or when for a while nobody else has come."""
        with self._changed:
            before = -1
            while before < (arrived := len(self._waiting) + self._left) < racers:
                before = arrived
                self._changed.wait(self._patience_s)
            self._patience_s = PATIENCE_S if arrived >= racers else SHORT_PATIENCE_S

    def release(self) -> None:
        """Lets everybody go who waits, and holds up nobody who comes later."""
        with self._changed:
            self._closed, waiting = False, self._waiting
            self._waiting = []
        # Nothing but sending in this loop: what it takes is what lies between the first racer and the last.
        for each in waiting:
            each.send()
            each.released_at = time.monotonic()
        for each in waiting:
            each.gone.set()


class _Held(httpcore.NetworkStream):
    """A connection that keeps back the last byte of what is written before something is read."""

    def __init__(self, stream: httpcore.NetworkStream, line: _Line) -> None:
        self._stream = stream
        self._line = line
        self._kept = bytearray()

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - sent when read
        self._kept += buffer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._kept:
            octets = bytes(self._kept)
            self._kept.clear()
            # A server may say no and close before all has come; what it said is read below.
            with suppress(httpcore.WriteError, httpcore.WriteTimeout):
                self._stream.write(octets[:-1], timeout)
            self._line.wait(partial(self._last, octets[-1:], timeout))
        return self._stream.read(max_bytes, timeout)

    def _last(self, octet: bytes, timeout: float | None) -> None:
        with suppress(httpcore.WriteError, httpcore.WriteTimeout):
            self._stream.write(octet, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *arguments: Any, **named: Any) -> httpcore.NetworkStream:
        return _Held(self._stream.start_tls(*arguments, **named), self._line)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Network(httpcore.NetworkBackend):
    """Opens connections that hold back the last byte."""

    def __init__(self, line: _Line) -> None:
        self._line = line
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
        return _Held(stream, self._line)
