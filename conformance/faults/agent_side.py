"""Misbehaving clients as data: what each sends, and what it does afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.conformance.wire.exchange import Headers

# More than any server accepts as a head, and more than a registration or token request needs.
LARGE_HEAD, LARGE_BODY = 128 * 1024, 2 * 1024 * 1024
ANNOUNCED = 4096


class Then(StrEnum):
    """What a client does after it has sent its part."""

    STAYS = "stays and says no more"
    DRIPS = "sends one octet now and then"
    RESETS = "resets the connection"
    HALF_CLOSES = "closes its side"


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """A client that misbehaves at an endpoint that accepts a body.

    `head` is what follows the request line and Host; with None, the client does not even start a TLS
    handshake.
    """

    fault: Fault
    head: str | None
    body: bytes = b""
    then: Then = Then.STAYS
    twice: bool = False

    def octets(self, path: str, host: str, media_type: str, headers: Headers = ()) -> bytes:
        """The octets that it sends to this endpoint."""
        if self.head is None:
            return b""
        own = "".join(f"{name}: {value}\r\n" for name, value in headers)
        lines = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {media_type}\r\n{own}{self.head}"
        return (lines.encode("latin-1") + self.body) * (2 if self.twice else 1)


def _fault(name: str, does: str, holds: str) -> Fault:
    return Fault(name=name, layer=Layer.CLIENT, hop=Hop.AGENT_TO_GATEWAY, does=does, holds=holds)


_OTHERS = "others are served as usual"
_AFTER = "the normal flow works afterwards"
_LONG = f"Content-Length: {ANNOUNCED}\r\n\r\n"
# They keep a connection open without completing a request.
SLOW: Mapping[str, Client] = {
    "silent": Client(
        fault=_fault("silent connection", "connects and sends nothing, not even a TLS hello", _OTHERS),
        head=None,
    ),
    "half-head": Client(
        fault=_fault("half request", "stops in the middle of the head", _OTHERS),
        head="X-Half: a",
    ),
    "half-body": Client(
        fault=_fault("half body", "stops in the middle of the body", _OTHERS),
        head=_LONG,
        body=b"{",
    ),
    "slow-body": Client(
        fault=_fault("slow body", "sends a body octet by octet", _OTHERS),
        head=_LONG,
        body=b"{",
        then=Then.DRIPS,
    ),
    "slow-head": Client(
        fault=_fault("slow head", "sends a head octet by octet", _OTHERS),
        head="X-Slow: a",
        then=Then.DRIPS,
    ),
    "unread-answer": Client(
        fault=_fault("unread answer", "sends two requests and reads no answer", _OTHERS),
        head="Content-Length: 2\r\n\r\n",
        body=b"{}",
        twice=True,
    ),
}
# They stop in the middle of a request, or violate HTTP.
BROKEN: Mapping[str, Client] = {
    "abandoned-in-the-body": Client(
        fault=_fault("abandoned request", "resets the connection in the middle of the body", _AFTER),
        head="Content-Length: 100\r\n\r\n",
        body=b"{",
        then=Then.RESETS,
    ),
    "abandoned": Client(
        fault=_fault("abandoned connection", "sends a request and resets before the answer", _AFTER),
        head="Content-Length: 2\r\n\r\n",
        body=b"{}",
        then=Then.RESETS,
    ),
    "half-closed": Client(
        fault=_fault("half-closed connection", "closes its side in the middle of the body", _AFTER),
        head=_LONG,
        body=b"{",
        then=Then.HALF_CLOSES,
    ),
    "bad-chunking": Client(
        fault=_fault("bad chunking", "announces chunks and sends invalid ones", _AFTER),
        head="Transfer-Encoding: chunked\r\n\r\n",
        body=b"zz\r\n{}\r\n-1\r\n\r\n",
    ),
    "oversized-head": Client(
        fault=_fault("oversize header", f"sends a header of {LARGE_HEAD} octets", _AFTER),
        head=f"X-Large: {'a' * LARGE_HEAD}\r\nContent-Length: 0\r\n\r\n",
    ),
    "oversized-body": Client(
        fault=_fault("oversize body", f"sends a body of {LARGE_BODY} octets", _AFTER),
        head=f"Content-Length: {LARGE_BODY}\r\n\r\n",
        body=b'{"client_name": "' + b"a" * LARGE_BODY,
    ),
    "pipelined": Client(
        fault=_fault("pipelined requests", "sends a second request without waiting, then resets", _AFTER),
        head="Content-Length: 2\r\n\r\n",
        body=b"{}",
        then=Then.RESETS,
        twice=True,
    ),
}
LOST_ANSWER = _fault(
    "lost answer", "resets the connection as the answer begins", "what was done stays done, once"
)
EMBEDDED = _fault(
    "request inside a body",
    "sends a large body that reads like requests",
    "a body is never taken for a request",
)
IN_WRITES = _fault(
    "request in pieces", "writes a request piece by piece", "the request is answered as if it had come in one"
)
IN_PIECES = Fault(
    name="request in segments",
    layer=Layer.BYTES,
    hop=Hop.AGENT_TO_GATEWAY,
    does="the network delivers a request in small segments",
    holds="the request is answered as if it had come in one",
)
CLIENT_DISCONNECTED = Fault(
    name="caller gone during a refresh",
    layer=Layer.CLIENT,
    hop=Hop.AGENT_TO_GATEWAY,
    does="a backend resets its connection while the gateway waits for the merchant",
    holds="the refresh is not lost",
)
