"""A connection that one thread reads while another writes; a TLS socket does not support that.

OpenSSL keeps its error state per connection: a read that would block, followed by a write of another thread,
looks like the end of the connection.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable

# A write may have received data for the reader, so a wait for the network is no longer than this.
_RETRY_S = 0.05


class DuplexConnection(io.RawIOBase):
    """Reads and writes one at a time; raises TimeoutError after the time limit."""

    def __init__(self, line: socket.socket, *, timeout_s: float) -> None:
        self._line = line
        self._lock = threading.Lock()
        self._timeout_s = timeout_s
        line.setblocking(False)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer, as sockets take it
        return self._exclusively(lambda: self._line.recv_into(buffer), select.POLLIN)

    def sendall(self, octets: bytes) -> None:
        left = memoryview(octets)
        while left:
            left = left[self._exclusively(lambda part=left: self._line.send(part), select.POLLOUT) :]  # type: ignore[misc]

    def _exclusively(self, operation: Callable[[], int], until: int) -> int:
        end = time.monotonic() + self._timeout_s
        while True:
            with self._lock:
                try:
                    return operation()
                except ssl.SSLWantReadError:
                    waited_for = select.POLLIN
                except ssl.SSLWantWriteError:
                    waited_for = select.POLLOUT
                except BlockingIOError:
                    waited_for = until
            left_s = end - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            poll = select.poll()
            poll.register(self._line, waited_for)
            poll.poll(1000 * min(left_s, _RETRY_S))
