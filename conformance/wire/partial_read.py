"""Reads from one connection while something happens on others."""

from __future__ import annotations

import http.client
import io
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, cast

from gateproof.conformance.wire.connections import MAX_BODY
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.pipelining import octets_of, opened
from gateproof.conformance.wire.route import Place

# Reading stops after this time without data.
QUIET_S = 0.3
# Reading stops after this time in any case.
LONGEST_S = 5.0


def read_while(place: Place, request: Request, during: Callable[[], None]) -> Answer | None:
    """The answer to a request as far as it has come shortly after `during`; None if nothing came."""
    came = bytearray()
    with ExitStack() as stack, suppress(OSError):
        line = opened(place, request.url, stack)
        line.settimeout(QUIET_S)
        line.sendall(octets_of(request, place))
        _read_available(line, came)
        during()
        _read_available(line, came)
    return _answer(bytes(came), request.method)


def _read_available(line: socket.socket, came: bytearray) -> None:
    until = time.monotonic() + LONGEST_S
    with suppress(TimeoutError):
        while len(came) < MAX_BODY and time.monotonic() < until and (octets := line.recv(64 * 1024)):
            came += octets


class _SocketLike:
    """A stand-in for the socket of an HTTP response."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._octets)


def _answer(octets: bytes, method: str) -> Answer | None:
    with suppress(http.client.HTTPException, ValueError):
        response = http.client.HTTPResponse(cast("socket.socket", _SocketLike(octets)), method=method)
        response.begin()
        try:
            body = response.read()
        except http.client.IncompleteRead as some:
            body = some.partial
        headers = tuple(response.getheaders())
        return Answer(status=response.status, headers=headers, body=body, phrase=response.reason)
    return None
