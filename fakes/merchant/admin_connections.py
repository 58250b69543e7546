"""HTTP connections to the fake merchant's admin API.

A run asks thousands of times, and a general HTTP client takes longer for that than the merchant. This one
knows what the merchant sends: each answer has a Content-Length. See docs/adr/0006.
"""

from __future__ import annotations

import re
import socket
import time
from urllib.parse import urlsplit

_HEAD_END = b"\r\n\r\n"
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSED = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_OCTETS = 65_536
# Much shorter than the merchant's own limit for idle connections.
_KEPT_S = 60.0


class AdminConnections:
    """Reuses connections that are idle. Several threads can ask at the same time."""

    def __init__(self, url: str, token: str, *, timeout_s: float) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 80)
        self._timeout_s = timeout_s
        self._fields = f"HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {token}\r\nContent-Length:"
        # Each with the time when it became idle. Without a lock, because append and pop are atomic.
        self._idle: list[tuple[socket.socket, float]] = []

    def close(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer; raises OSError if there is none."""
        connection = self._connection()
        try:
            connection.sendall(f"POST {path} {self._fields} {len(body)}\r\n\r\n".encode() + body)
            status, head, answer = _received(connection)
        except BaseException:
            # Also after an interrupt: the next caller must not get this answer.
            connection.close()
            raise
        if _CLOSED.search(head):
            connection.close()
        else:
            self._idle.append((connection, time.monotonic()))
        return status, answer

    def _connection(self) -> socket.socket:
        while (kept := self._newest()) is not None:
            connection, since = kept
            if time.monotonic() - since < _KEPT_S:
                return connection
            connection.close()
        connection = socket.create_connection(self._address, self._timeout_s)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _newest(self) -> tuple[socket.socket, float] | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None


def _received(connection: socket.socket) -> tuple[int, bytes, bytes]:
    """Status, head and body of one answer."""
    octets = bytearray()
    while (end := octets.find(_HEAD_END)) < 0:
        octets += _more(connection)
    head = bytes(octets[:end])
    status, length = _STATUS.match(head), _LENGTH.search(head)
    if status is None or length is None:
        raise ConnectionError("the answer has no status or no length")
    start = end + len(_HEAD_END)
    while len(octets) < start + int(length[1]):
        octets += _more(connection)
    return int(status[1]), head, bytes(octets[start:])


def _more(connection: socket.socket) -> bytes:
    octets = connection.recv(_OCTETS)
    if not octets:
        raise ConnectionError("the connection ended before the answer")
    return octets
