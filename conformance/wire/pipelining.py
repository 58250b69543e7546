"""One connection below HTTP: what is sent on it goes out as it is, and its answers are read in a row."""

from __future__ import annotations

import http.client
import io
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from gateproof.conformance.wire.connections import CONNECT_S, MAX_BODY
from gateproof.conformance.wire.duplex_tls import TwoWay
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.route import Place, trust
from gateproof.conformance.wire.tls import address

# Long enough for a party on the same machine to have read one piece before the next is there.
_BETWEEN_S = 0.002
# What every client says that is not made by hand: a firewall may turn away who does not.
_OWN_HEADERS = (("Accept", "*/*"), ("User-Agent", "gateproof"))


def opened(place: Place, url: str, stack: ExitStack, *, handshake: bool = True) -> socket.socket:
    """A connection to the party at this URL, with TLS where the URL has it; raises OSError."""
    place.go_ahead()
    plain = stack.enter_context(socket.create_connection(address(place, url), timeout=CONNECT_S))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not url.startswith("https:") or not handshake:
        return plain
    return stack.enter_context(trust(place).wrap_socket(plain, server_hostname=urlsplit(url).hostname))


def octets_of(request: Request, place: Place) -> bytes:
    """The request as it goes over a line."""
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc), *place.headers.items(), *request.headers]
    named = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in _OWN_HEADERS if name.lower() not in named]
    if request.body or request.method == "POST":
        headers.append(("Content-Length", str(len(request.body))))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"{request.method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + request.body


def answers_in_a_row(
    place: Place,
    requests: Sequence[Request],
    *,
    timeout_s: float,
    piece: int | None = None,
    wrote: Callable[[int], None],
) -> list[Answer]:
    """What comes for requests that are sent without waiting; a close or a silence ends it early.

    In pieces, so that none shares a segment or a TLS record with the next; `wrote` hears how long each was.
    """
    found: list[Answer] = []
    with ExitStack() as stack, suppress(OSError, http.client.HTTPException, ValueError):
        place.go_ahead(len(requests))
        line = opened(replace(place, pace=None), requests[0].url, stack)
        both = TwoWay(line, timeout_s=timeout_s)
        # Whoever answers early need not read on: sending may take as long as reading.
        octets = b"".join(octets_of(request, place) for request in requests)
        size = piece or len(octets)
        pieces = [octets[start : start + size] for start in range(0, len(octets), size)]
        sending = threading.Thread(target=_send, args=(both, pieces, wrote), daemon=True)
        sending.start()
        stack.callback(sending.join, timeout_s)
        stack.callback(_shut, line)
        shared = _Shared(both)
        for request in requests:
            found.append(_answer(shared, request.method))  # noqa: PERF401 - a close keeps what came before
    return found


class _Kept(io.BufferedReader):
    """A reader that outlives the answers that are read from it."""

    def close(self) -> None:
        """Left to whoever opened the line: what was read ahead belongs to the next answer."""


class _Shared:
    """What an HTTP response takes for a socket: always the same reader."""

    def __init__(self, both: TwoWay) -> None:
        self._reader = _Kept(both)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return self._reader


def _answer(shared: _Shared, method: str) -> Answer:
    begun = time.monotonic()
    response = http.client.HTTPResponse(cast("socket.socket", shared), method=method)
    response.begin()
    body = response.read(MAX_BODY)
    return Answer(
        status=response.status,
        headers=tuple(response.getheaders()),
        body=body,
        elapsed_s=time.monotonic() - begun,
        phrase=response.reason,
    )


def _send(both: TwoWay, pieces: Sequence[bytes], wrote: Callable[[int], None]) -> None:
    with suppress(OSError):
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(_BETWEEN_S)
            both.sendall(piece)
            wrote(len(piece))


def _shut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
