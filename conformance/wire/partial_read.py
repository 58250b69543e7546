"""What comes on one connection while something happens on others."""

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

# So long nothing comes where nothing more is to come.
QUIET_S = 0.3
# And a server that is never silent is not listened to for ever.
LONGEST_S = 5.0


def overheard(place: Place, request: Request, during: Callable[[], None]) -> Answer | None:
    """The answer to a request, as far as it has come a moment after this was done; None where none came."""
    came = bytearray()
    with ExitStack() as stack, suppress(OSError):
        line = opened(place, request.url, stack)
        line.settimeout(QUIET_S)
        line.sendall(octets_of(request, place))
        _hear(line, came)
        during()
        _hear(line, came)
    return _answer(bytes(came), request.method)


def _hear(line: socket.socket, came: bytearray) -> None:
    until = time.monotonic() + LONGEST_S
    with suppress(TimeoutError):
        while len(came) < MAX_BODY and time.monotonic() < until and (octets := line.recv(64 * 1024)):
            came += octets


class _Heard:
    """What an HTTP response takes for a socket."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._octets)


def _answer(octets: bytes, method: str) -> Answer | None:
    with suppress(http.client.HTTPException, ValueError):
        response = http.client.HTTPResponse(cast("socket.socket", _Heard(octets)), method=method)
        response.begin()
        try:
            body = response.read()
        except http.client.IncompleteRead as some:
            body = some.partial
        headers = tuple(response.getheaders())
        return Answer(status=response.status, headers=headers, body=body, phrase=response.reason)
    return None
