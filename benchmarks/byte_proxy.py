"""Measures the throughput of the byte-level proxy, compared with the same requests without it.

A server that answers at once and a client with kept connections run in their own processes, the proxy in this
one. Direct and proxied rounds alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from typing import IO

from gateproof.conformance.faults.byte_proxy import byte_proxy

BOUND = 2000
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n" + b"x" * 400
REQUEST = b"POST /api/credentials/token HTTP/1.1\r\nHost: gateway\r\nContent-Length: 600\r\n\r\n" + b"y" * 600


class Answering(asyncio.Protocol):
    """Sends the same answer to every complete request."""

    def __init__(self) -> None:
        self._came = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += len(data)
        whole, self._came = divmod(self._came, len(REQUEST))
        self._transport.write(ANSWER * whole)


async def serve() -> None:
    """Prints its port and answers until stdin ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


async def ask(port: int, requests: int, connections: int) -> None:
    """Prints the number of requests, the number of errors, and the duration."""
    errors = 0

    async def one(share: int) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(share):
            writer.write(REQUEST)
            try:
                errors += await reader.readexactly(len(ANSWER)) != ANSWER
            except (OSError, asyncio.IncompleteReadError):
                errors += 1
        writer.close()

    begun = time.monotonic()
    await asyncio.gather(*(one(requests // connections) for _ in range(connections)))
    print(json.dumps([requests // connections * connections, errors, time.monotonic() - begun]))


def again(*arguments: str) -> list[str]:
    return [sys.executable, __file__, *arguments]


def measured(port: int, requests: int, connections: int) -> tuple[float, int]:
    """Requests per second, and the number of errors."""
    said = subprocess.run(
        again("--ask", str(port), str(requests), str(connections)),
        capture_output=True,
        check=True,
        timeout=120,
    )
    answered, errors, took = json.loads(said.stdout)
    return answered / took, errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, metavar="N")
    parser.add_argument("--connections", type=int, default=32, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--check", action="store_true", help=f"exit 1 below {BOUND} a second, or on an error")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=int, nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve or arguments.ask:
        asyncio.run(serve() if arguments.serve else ask(*arguments.ask))
        return 0
    with subprocess.Popen(
        again("--serve"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        straight, through, errors, used = rounds(server.stdout, arguments)
        assert server.stdin is not None
        server.stdin.close()
    rate, ratio = statistics.median(through), statistics.median(straight) / statistics.median(through)
    print(f"straight {statistics.median(straight):,.0f} requests a second, through the proxy {rate:,.0f}")
    print(f"a ratio of {ratio:.1f}; {errors} errors; {used * 1e6:.0f} µs of processor time a request")
    return 1 if arguments.check and (rate < BOUND or errors) else 0


def rounds(
    said: IO[str] | None, arguments: argparse.Namespace
) -> tuple[list[float], list[float], int, float]:
    """The rates of both, the errors of the proxied rounds, and the proxy's processor time per request."""
    assert said is not None
    port, errors = int(said.readline()), 0
    straight: list[float] = []
    through: list[float] = []
    with byte_proxy(("127.0.0.1", port)) as proxy:
        begun = time.process_time()
        for _ in range(arguments.rounds):
            straight.append(measured(port, arguments.requests, arguments.connections)[0])
            rate, wrong = measured(proxy.port, arguments.requests, arguments.connections)
            through.append(rate)
            errors += wrong
        used = (time.process_time() - begun) / (arguments.requests * arguments.rounds)
        errors += len(proxy.troubles)
    return straight, through, errors, used


if __name__ == "__main__":
    sys.exit(main())
