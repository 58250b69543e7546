"""Connections that are kept for the next request to the same host."""

from __future__ import annotations

import ssl
import threading
import time
from dataclasses import dataclass
from typing import NamedTuple

import httpcore

AT_ONCE = 100


class End(NamedTuple):
    """Where a connection leads: an address, and with TLS the name in the certificate."""

    host: str
    port: int
    tls_name: str | None


@dataclass(kw_only=True, slots=True, eq=False)
class Line:
    """A connection of a pool; `generation` is how often the pool had been closed before."""

    pool: Pool
    end: End
    stream: httpcore.NetworkStream
    generation: int
    is_new: bool = True
    expires_at: float = 0.0

    def give_back(self, *, keep: bool) -> None:
        """Keeps the connection for another request if it can be used for one, else closes it."""
        self.pool.give_back(self, keep=keep)


class Pool:
    """Connections with the same trust and client certificate; `keep_s` zero keeps none of them.

    Without a context, they are connections without TLS.
    """

    def __init__(
        self, context: ssl.SSLContext | None, network: httpcore.NetworkBackend, *, keep_s: float
    ) -> None:
        if context is not None:
            context.set_alpn_protocols(["http/1.1"])
        self._context, self._network, self._keep_s = context, network, keep_s
        self._changed = threading.Condition()
        # In the order in which they became idle.
        self._idle: list[Line] = []
        self._in_use = self._generation = 0

    def close(self) -> None:
        """Closes the connections that are idle; the others are closed after their requests."""
        with self._changed:
            self._generation += 1
            self._close_first(len(self._idle))

    def take(self, end: End, *, connect_s: float, wait_s: float) -> Line:
        """The connection that became idle last, or a new one; the caller gives it back.

        Raises the exceptions of httpcore, PoolTimeout if all connections are in use for too long.
        """
        until = time.monotonic() + wait_s
        with self._changed:
            while True:
                self._close_expired()
                if (kept := self._kept(end)) is not None:
                    self._in_use += 1
                    return kept
                if self._in_use < AT_ONCE:
                    break
                if not self._changed.wait(until - time.monotonic()):
                    raise httpcore.PoolTimeout
            self._close_first(self._in_use + len(self._idle) + 1 - AT_ONCE)
            self._in_use += 1
            generation = self._generation
        try:
            return Line(pool=self, end=end, stream=self._opened(end, connect_s), generation=generation)
        except BaseException:
            with self._changed:
                self._in_use -= 1
                self._changed.notify()
            raise

    def give_back(self, line: Line, *, keep: bool) -> None:
        """Ends the use of a connection: it becomes idle, or is closed."""
        if not keep:
            line.stream.close()
        with self._changed:
            if keep and self._keep_s > 0 and line.generation == self._generation:
                line.is_new, line.expires_at = False, time.monotonic() + self._keep_s
                self._idle.append(line)
            elif keep:
                line.stream.close()
            self._in_use -= 1
            self._changed.notify()

    def _kept(self, end: End) -> Line | None:
        for index in range(len(self._idle) - 1, -1, -1):
            if self._idle[index].end == end:
                line = self._idle.pop(index)
                # Nothing was asked, so what can be read is the end of the connection.
                if not line.stream.get_extra_info("is_readable"):
                    return line
                line.stream.close()
        return None

    def _opened(self, end: End, connect_s: float) -> httpcore.NetworkStream:
        stream = self._network.connect_tcp(end.host, end.port, connect_s)
        if self._context is None:
            return stream
        try:
            return stream.start_tls(self._context, end.tls_name, connect_s)
        except BaseException:
            stream.close()
            raise

    def _close_expired(self) -> None:
        now = time.monotonic()
        while self._idle and self._idle[0].expires_at < now:
            self._close_first(1)

    def _close_first(self, number: int) -> None:
        for line in self._idle[: max(0, number)]:
            line.stream.close()
        del self._idle[: max(0, number)]
