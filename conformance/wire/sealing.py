"""Connections whose octets can be encrypted in advance and sent later in one system call.

Python's TLS socket encrypts and sends in one step. If many connections have to send at one moment, that takes
too long: a fast server would handle the first request before it gets the second.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpcore

Result = TypeVar("Result")
_RECORD = 16 * 1024
# The header of each record: type, version, and in the last two octets the length.
_HEADER = 5
# After the deadline, received data is still read once.
_SHORTEST_S = 0.001


class _Tls:
    """TLS separated from its socket, so that encrypted octets can be sent later."""

    def __init__(
        self, line: socket.socket, context: ssl.SSLContext, name: str | None, timeout: float | None
    ) -> None:
        self._line = line
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(self._received, self._to_send, server_hostname=name)
        self._decrypted = b""
        self._run_step(self.session.do_handshake, timeout)

    def seal(self, octets: bytes) -> bytes:
        self.session.write(octets)
        return self._to_send.read()

    def read(self, most: int, timeout: float | None) -> bytes:
        if self._decrypted:
            octets, self._decrypted = self._decrypted[:most], self._decrypted[most:]
            return octets
        try:
            return self._run_step(lambda: self.session.read(most), timeout)
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            # Many servers close without a close_notify alert; Python's own sockets treat that as the end,
            # too.
            return b""

    def holds_data(self, octets: int) -> bool:
        """True if the next octets, all of which were received, contain application data.

        An incomplete record counts as data.
        """
        records = b""
        while len(records) < octets and (received := self._line.recv(octets - len(records))):
            records += received
        self._received.write(records)
        try:
            self._decrypted = self.session.read(_RECORD)
        except ssl.SSLWantReadError:
            return not _are_complete(records)
        except ssl.SSLError:
            # The connection has ended; the next read reports how.
            return True
        return True

    def _run_step(self, step: Callable[[], Result], timeout: float | None) -> Result:
        """Repeats a TLS step until it has what it needs, within one time limit."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._send()
                self._line.settimeout(None if until is None else max(_SHORTEST_S, until - time.monotonic()))
                if octets := self._line.recv(_RECORD):
                    self._received.write(octets)
                else:
                    self._received.write_eof()
            except ssl.SSLError:
                # There may be an alert to send.
                self._send()
                raise
            else:
                self._send()
                return result

    def _send(self) -> None:
        if octets := self._to_send.read():
            self._line.sendall(octets)


class SealingStream(httpcore.NetworkStream):
    """A connection whose octets can be encrypted now, and sent later over its socket."""

    def __init__(self, line: socket.socket, tls: _Tls | None = None) -> None:
        self.line = line
        self._tls = tls

    def seal(self, octets: bytes) -> bytes:
        """The octets to send on the socket so that the other side receives these octets next."""
        return octets if self._tls is None else self._tls.seal(octets)

    def holds_an_answer(self, octets: int) -> bool:
        """True if the received octets contain a part of an answer."""
        if not octets or self._tls is None:
            return octets > 0
        with _raising(httpcore.ReadTimeout, httpcore.ReadError):
            return self._tls.holds_data(octets)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _raising(httpcore.ReadTimeout, httpcore.ReadError):
            self.line.settimeout(timeout)
            return self.line.recv(max_bytes) if self._tls is None else self._tls.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with _raising(httpcore.WriteTimeout, httpcore.WriteError):
            self.line.settimeout(timeout)
            self.line.sendall(self.seal(buffer))

    def close(self) -> None:
        self.line.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> SealingStream:
        with _raising(httpcore.ConnectTimeout, httpcore.ConnectError):
            self.line.settimeout(timeout)
            try:
                return SealingStream(self.line, _Tls(self.line, ssl_context, server_hostname, timeout))
            except BaseException:
                self.close()
                raise

    def get_extra_info(self, info: str) -> Any:
        """The information that httpcore requests from a stream."""
        if info == "ssl_object":
            return None if self._tls is None else self._tls.session
        if info == "is_readable":
            return self.line.fileno() < 0 or _is_readable(self.line)
        return None


def _are_complete(records: bytes) -> bool:
    """True if the octets end at the end of a TLS record."""
    place = 0
    while place + _HEADER <= len(records):
        place += _HEADER + int.from_bytes(records[place + 3 : place + _HEADER])
    return place == len(records)


def _is_readable(line: socket.socket) -> bool:
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _raising(late: type[Exception], failed: type[Exception]) -> Iterator[None]:
    """Converts socket exceptions into those of httpcore."""
    try:
        yield
    except TimeoutError as error:
        raise late(error) from error
    except OSError as error:
        raise failed(error) from error
