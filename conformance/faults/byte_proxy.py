"""A byte-level proxy on loopback, in its own thread; TLS passes through it unchanged."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from gateproof.conformance.faults.byte_connection import Connection, Streams, close_side
from gateproof.conformance.faults.toxics import Toxic

_HOST = "127.0.0.1"
_BACKLOG = 256
# More connections at a time are refused and recorded as an error of the proxy itself.
MOST_CONNECTIONS = 512
_STOP_S = 10.0
_DROP_S = 1.0
_ROUNDS = 8
Found = TypeVar("Found")


class ByteProxy:
    """One port in front of one server. Armed toxics affect every connection made from then on.

    Arming closes the open connections, because they would not be affected.
    """

    def __init__(self, upstream: tuple[str, int], rng: random.Random, at: tuple[str, int]) -> None:
        self._upstream = upstream
        self._host, self.port = at
        self._rng = rng
        self._loop = asyncio.new_event_loop()
        self._standing: tuple[Toxic, ...] = ()
        self._tape: deque[tuple[Toxic, ...]] = deque()
        self._fired: Counter[Toxic] = Counter()
        self._connections = 0
        self._open: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._troubles: list[str] = []
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        return f"{self._host}:{self.port}"

    def instead_of(self, url: str) -> str:
        """The same URL through this proxy."""
        return urlunsplit(urlsplit(url)._replace(netloc=self.address))

    def arm(self, *toxics: Toxic) -> None:
        """These toxics affect every connection until the next call; without arguments, there are none.

        Connections that are open are closed when this returns: nobody sends another request on one of them.
        """
        self._wait_for(self._set(toxics, ()))

    def arm_tape(self, tape: Sequence[Sequence[Toxic]]) -> None:
        """The n-th connection from now on gets the n-th entry; later ones are not affected."""
        self._wait_for(self._set((), [tuple(toxics) for toxics in tape]))

    def fired(self, toxic: Toxic) -> int:
        """How many connections the toxic has affected."""
        return self._run_in_loop(lambda: self._fired[toxic])

    @property
    def connections(self) -> int:
        """How many connections were made so far."""
        return self._run_in_loop(lambda: self._connections)

    @property
    def troubles(self) -> tuple[str, ...]:
        """Errors of the proxy itself."""
        return self._run_in_loop(lambda: tuple(self._troubles))

    def _run_in_loop(self, question: Callable[[], Found]) -> Found:
        async def answer() -> Found:
            return question()

        return self._wait_for(answer())

    def _wait_for(self, done: Coroutine[Any, Any, Found]) -> Found:
        return asyncio.run_coroutine_threadsafe(done, self._loop).result(_STOP_S)

    async def _set(self, standing: tuple[Toxic, ...], tape: Sequence[tuple[Toxic, ...]]) -> None:
        self._standing, self._tape = standing, deque(tape)
        dropped = [task for connection in self._open if (task := connection.drop()) is not None]
        if dropped:
            await asyncio.wait(dropped, timeout=_DROP_S)
        # Transports close their sockets in the next iteration of the loop.
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in a task
        self._tasks.add(task)
        self._connections += 1
        try:
            await self._relay((reader, writer))
        except asyncio.CancelledError:
            # Dropped on purpose: the callback of the streams would report a cancelled task as an error.
            return
        except (OSError, TimeoutError) as trouble:
            self._troubles.append(f"{type(trouble).__name__} on the connection to the upstream")
        finally:
            self._tasks.discard(task)

    async def _relay(self, client: Streams) -> None:
        if len(self._open) >= MOST_CONNECTIONS:
            self._troubles.append(f"more than {MOST_CONNECTIONS} connections at a time")
            close_side(client[1], abruptly=True)
            return
        toxics = self._tape.popleft() if self._tape else self._standing
        connection = Connection(client, toxics, count=self._count, rng=self._rng)
        self._open.add(connection)
        try:
            await connection.run(self._upstream)
        finally:
            self._open.discard(connection)

    def _count(self, toxic: Toxic) -> None:
        self._fired[toxic] += 1

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, self._host, self.port, backlog=_BACKLOG)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def _stop(self) -> None:
        assert self._server is not None  # noqa: S101 - started before it is stopped
        # Server.close() may lose a connection that was just accepted, so accepting stops first.
        for server_socket in self._server.sockets:
            self._loop.remove_reader(server_socket.fileno())
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        self._server.close()
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Transports close their sockets in the next iteration of the loop.
        await asyncio.sleep(0)

    def start(self) -> threading.Thread:
        """Starts the proxy; it listens when this returns."""
        self._loop.run_until_complete(self._listen())
        thread = threading.Thread(target=self._loop.run_forever, name="byte-proxy", daemon=True)
        thread.start()
        return thread

    def stop(self, thread: threading.Thread) -> None:
        """Stops the proxy, its thread and all its connections."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(_STOP_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        thread.join(_STOP_S)
        self._loop.close()


@contextmanager
def byte_proxy(
    upstream: tuple[str, int], *, seed: int = 0, at: tuple[str, int] = (_HOST, 0)
) -> Iterator[ByteProxy]:
    """During the block, a proxy in front of this host and port, on a new port or on `at`."""
    proxy = ByteProxy(upstream, random.Random(seed), at)  # noqa: S311 - jitter, not a secret
    thread = proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop(thread)
