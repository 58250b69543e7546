"""A connection below HTTP: octets are sent unchanged, and several answers are read in a row."""

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
from gateproof.conformance.wire.duplex_tls import DuplexConnection
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.exhausted import raise_if_exhausted
from gateproof.conformance.wire.route import Place, trust

# Long enough for a process on this machine to read one piece before the next arrives.
_BETWEEN_S = 0.002
# Headers of usual clients: firewalls may reject requests without them.
_OWN_HEADERS = (("Accept", "*/*"), ("User-Agent", "gateproof"))


def opened(place: Place, url: str, stack: ExitStack, *, handshake: bool = True) -> socket.socket:
    """A connection to the host of this URL, with TLS for https; raises OSError."""
    place.go_ahead()
    try:
        plain = stack.enter_context(socket.create_connection(place.address(url), timeout=CONNECT_S))
    except OSError as error:
        raise_if_exhausted(error)
        raise
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not url.startswith("https:") or not handshake:
        return plain
    return stack.enter_context(trust(place).wrap_socket(plain, server_hostname=urlsplit(url).hostname))


def octets_of(request: Request, place: Place) -> bytes:
    """The request as octets."""
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc), *place.headers_for_a_request().items(), *request.headers]
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
    """The answers to requests sent without waiting; a close or a timeout ends the list early.

    Pieces are sent separately, so that they do not share a segment or TLS record; `wrote` gets the length of
    each as it is sent.
    """
    found: list[Answer] = []
    with ExitStack() as stack, suppress(OSError, http.client.HTTPException, ValueError):
        place.go_ahead(len(requests))
        line = opened(replace(place, pace=None), requests[0].url, stack)
        duplex = DuplexConnection(line, timeout_s=timeout_s)
        # The server may answer before it has read everything, so sending and reading overlap.
        octets = b"".join(octets_of(request, place) for request in requests)
        size = piece or len(octets)
        pieces = [octets[start : start + size] for start in range(0, len(octets), size)]
        sending = threading.Thread(target=_send, args=(duplex, pieces, wrote), daemon=True)
        sending.start()
        stack.callback(sending.join, timeout_s)
        stack.callback(_shut_down, line)
        shared = _SharedReader(duplex)
        for request in requests:
            found.append(_answer(shared, request.method))  # noqa: PERF401 - earlier answers are kept if this raises
    return found


class _PersistentReader(io.BufferedReader):
    """A reader that stays open between the answers that are read from it."""

    def close(self) -> None:
        """Does nothing: data that was read ahead belongs to the next answer."""


class _SharedReader:
    """A stand-in for the socket of an HTTP response: always the same reader."""

    def __init__(self, duplex: DuplexConnection) -> None:
        self._reader = _PersistentReader(duplex)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return self._reader


def _answer(shared: _SharedReader, method: str) -> Answer:
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


def _send(duplex: DuplexConnection, pieces: Sequence[bytes], wrote: Callable[[int], None]) -> None:
    with suppress(OSError):
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(_BETWEEN_S)
            # Before: a server that answers at the head may close while the first piece is being sent.
            wrote(len(piece))
            duplex.sendall(piece)


def _shut_down(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
