"""One connection that one thread reads while another writes, which a TLS connection by itself does not bear.

What OpenSSL says of an error is kept per connection: a read that would have to wait, asked about after a
write of another thread, looks like the end of the connection.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable

# A write may have taken in what a reader waits for: nobody waits for the network longer than this at a time.
_LOOK_AGAIN_S = 0.05


class TwoWay(io.RawIOBase):
    """Reads and writes in turns; what is not done when the time is over raises TimeoutError."""

    def __init__(self, line: socket.socket, *, timeout_s: float) -> None:
        self._line = line
        self._turn = threading.Lock()
        self._timeout_s = timeout_s
        line.setblocking(False)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer, as sockets take it
        return self._in_turn(lambda: self._line.recv_into(buffer), select.POLLIN)

    def sendall(self, octets: bytes) -> None:
        left = memoryview(octets)
        while left:
            left = left[self._in_turn(lambda part=left: self._line.send(part), select.POLLOUT) :]  # type: ignore[misc]

    def _in_turn(self, act: Callable[[], int], until: int) -> int:
        end = time.monotonic() + self._timeout_s
        while True:
            with self._turn:
                try:
                    return act()
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
            poll.poll(1000 * min(left_s, _LOOK_AGAIN_S))
