"""Opens connections of misbehaving clients for the time of a block."""

from __future__ import annotations

import re
import select
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

from gateproof.conformance.faults.agent_side import Client, Then
from gateproof.conformance.wire.exchange import Headers, Request
from gateproof.conformance.wire.pipelining import octets_of, opened
from gateproof.conformance.wire.route import Place

# Timeout for sending to a target that does not read.
_SEND_S = 3.0
_DRIP_S = 0.2
_MOST_DRIPS = 3000
# Time for the target to read before a reset, which discards unread data.
_MOMENT_S = 0.2
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})\b")
_LONGEST_STATUS_LINE = 1024
_LINGER_ZERO = struct.pack("ii", 1, 0)


@contextmanager
def misbehaving(
    client: Client, place: Place, url: str, media_type: str, *, number: int, headers: Headers = ()
) -> Iterator[int]:
    """Opens `number` connections that behave like this client; yields how many were made.

    They stay open until the block ends unless the client closes them; all end with a reset.
    """
    with ExitStack() as stack:
        handshake = client.head is not None
        lines = [
            line
            for _ in range(number)
            if (line := _opened(place, url, stack, handshake=handshake)) is not None
        ]
        parts = urlsplit(url)
        octets = client.octets(parts.path or "/", parts.netloc, media_type, headers)
        reached = [line for line in lines if _sent(line, octets)]
        _then(client.then, reached, stack)
        yield len(reached)


@contextmanager
def send_and_disconnect(place: Place, request: Request, *, number: int) -> Iterator[int]:
    """Sends this request on `number` connections and reads no answer; they end with a reset."""
    with ExitStack() as stack:
        octets = octets_of(request, place)
        lines = [line for _ in range(number) if (line := _opened(place, request.url, stack)) is not None]
        yield sum(_sent(line, octets) for line in lines)


def answer_lost(place: Place, request: Request, *, timeout_s: float) -> int | None:
    """Resets the connection when the status of the answer has come; None if none came."""
    with ExitStack() as stack, suppress(OSError, ssl.SSLError):
        line = _opened(place, request.url, stack)
        if line is not None:
            line.settimeout(timeout_s)
            line.sendall(octets_of(request, place))
            with line.makefile("rb") as answer:
                said = _STATUS.match(answer.readline(_LONGEST_STATUS_LINE))
                return int(said[1]) if said else None
    return None


def _opened(place: Place, url: str, stack: ExitStack, *, handshake: bool = True) -> socket.socket | None:
    try:
        line = opened(place, url, stack, handshake=handshake)
    except (OSError, ssl.SSLError):
        return None
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
    return line


def _sent(line: socket.socket, octets: bytes) -> bool:
    """True if the target received it or stopped reading."""
    line.settimeout(_SEND_S)
    try:
        line.sendall(octets)
    except TimeoutError:
        return True  # the target stopped reading: the fault has reached it
    except (ConnectionError, ssl.SSLError):
        return True  # the target closed the connection meanwhile: likewise
    except OSError:
        return False
    return True


def _then(manner: Then, lines: list[socket.socket], stack: ExitStack) -> None:
    match manner:
        case Then.RESETS:
            # A target that answers has read the request.
            select.select(lines, [], [], _MOMENT_S)
            for line in lines:
                line.close()
        case Then.HALF_CLOSES:
            for line in lines:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_WR)
        case Then.DRIPS:
            stop = threading.Event()
            dripping = threading.Thread(target=_drip, args=(lines, stop), daemon=True)
            dripping.start()
            stack.callback(dripping.join)
            stack.callback(stop.set)
        case Then.STAYS:
            pass


def _drip(lines: list[socket.socket], stop: threading.Event) -> None:
    open_lines = list(lines)
    for _ in range(_MOST_DRIPS):
        if stop.wait(_DRIP_S):
            return
        for line in list(open_lines):
            try:
                line.sendall(b"a")
            except OSError:
                open_lines.remove(line)
