"""Network connections with one deadline for a whole request.

A socket timeout restarts with each octet. A server that sends one octet a second, or endless interim answers,
would keep a request open forever.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore

_PIECE = 64 * 1024


class Deadline(threading.local):
    """The deadline of this thread's current request; None outside of a request."""

    def __init__(self) -> None:
        self._at: float | None = None

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        before, self._at = self._at, time.monotonic() + seconds
        try:
            yield
        finally:
            self._at = before

    def left(self, timeout: float | None, late: type[httpcore.TimeoutException]) -> float | None:
        """The shorter one of the timeout and the time left for the request; raises `late` if none is left."""
        if self._at is None:
            return timeout
        remaining = self._at - time.monotonic()
        if remaining <= 0:
            raise late
        return remaining if timeout is None else min(timeout, remaining)


class Bounded(httpcore.NetworkBackend):
    """Opens connections that observe the deadline."""

    def __init__(self, network: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._network = network
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout, httpcore.ConnectTimeout)
        stream = self._network.connect_tcp(host, port, left, local_address, socket_options)
        return _BoundedStream(stream, self._deadline)


class _BoundedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for begin in range(0, len(buffer), _PIECE):
            left = self._deadline.left(timeout, httpcore.WriteTimeout)
            self._stream.write(buffer[begin : begin + _PIECE], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout, httpcore.ConnectTimeout)
        return _BoundedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
