"""Connections that stay open between requests, and one request over one of them.

httpcore is what httpx stands on. A run sends thousands of small requests, and what httpx adds (cookies,
redirects, models of headers and URLs) is what a recorder of the wire has to keep out anyway.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Callable
from threading import Lock
from urllib.parse import quote, urlsplit

import httpcore

from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.route import Place, trust

# How a failure begins when the other side's certificate was not what TLS asks for.
DISTRUSTED = "the certificate was refused"
MAX_BODY = 4 * 1024 * 1024
# Servers close idle connections whenever they like; one this young is very unlikely to be among those.
KEEPALIVE_S = 1.0
_AT_ONCE = 100
CONNECT_S = 10.0
_OWN_HEADERS = (
    (b"Accept", b"*/*"),
    # Not deflate, by which servers mean one of two things.
    (b"Accept-Encoding", b"gzip"),
    (b"Connection", b"keep-alive"),
    (b"User-Agent", b"gateproof"),
)
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# What a strict server takes on a request line; everything else is percent-encoded, and what is so stays so.
_TAKEN = "!$%&'()*+,;=:@/?[]"


class TooLate(Exception):
    """No answer came in time; `connected` says whether anybody had at least taken the request."""

    def __init__(self, *, connected: bool) -> None:
        super().__init__("no answer in time")
        self.connected = connected


class NoAnswer(Exception):
    """What came was no answer: says why, without a library's text, in which a URL or a header may stand."""


class Unsendable(Exception):
    """The request holds what HTTP cannot carry where it stands, such as a credential that ends in a space."""

    def __init__(self) -> None:
        super().__init__("what would be sent cannot stand in a header")


class Connections:
    """One pool of connections for each way to reach a party; `network` opens them in a way of its own."""

    def __init__(self, *, timeout_s: float, network: httpcore.NetworkBackend | None = None) -> None:
        self._pools: dict[tuple[object, ...], httpcore.ConnectionPool] = {}
        self._network = network
        self._opening = Lock()
        # For how long requests were held back so far, so that no more go out than may.
        self.paced_s = 0.0
        self._deadline_s = timeout_s
        self._timeouts = {
            "connect": min(timeout_s, CONNECT_S),
            "read": timeout_s,
            "write": timeout_s,
            "pool": timeout_s,
        }

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def ask(self, place: Place, request: Request) -> Answer:
        """The answer to one request; raises TooLate or NoAnswer when none comes, or Unsendable."""
        begun = time.monotonic()
        place.go_ahead()
        self.paced_s += time.monotonic() - begun
        try:
            return self._ask(place, request)
        except httpcore.LocalProtocolError:
            raise Unsendable from None
        except httpcore.TimeoutException as error:
            connected = not isinstance(error, httpcore.ConnectTimeout | httpcore.PoolTimeout)
            raise TooLate(connected=connected) from None
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.UnsupportedProtocol,
            ssl.SSLError,
            zlib.error,
            UnicodeError,
        ) as error:
            raise NoAnswer(_failure(error)) from None

    def _ask(self, place: Place, request: Request) -> Answer:
        started, body = time.monotonic(), bytearray()
        answer = self._pool(place, alone=request.alone).handle_request(self._prepared(place, request))
        try:
            headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in answer.headers)
            decode = _decoder(headers)
            for chunk in answer.iter_stream():
                body += decode(chunk, MAX_BODY + 1 - len(body))
                if time.monotonic() - started > self._deadline_s + request.longer_s:
                    raise httpcore.ReadTimeout
                if len(body) > MAX_BODY:
                    raise NoAnswer(f"no answer: the body is longer than {MAX_BODY} bytes")
                if request.until is not None and request.until(bytes(body)):
                    break
        finally:
            answer.close()
        return Answer(
            status=answer.status,
            headers=headers,
            body=bytes(body),
            elapsed_s=time.monotonic() - started,
            phrase=answer.extensions.get("reason_phrase", b"").decode("latin-1"),
        )

    def _prepared(self, place: Place, request: Request) -> httpcore.Request:
        parts = urlsplit(request.url)
        host, port = (parts.hostname or "").encode("idna"), parts.port
        timeouts = self._timeouts
        if request.longer_s:
            timeouts = {**timeouts, "read": self._deadline_s + request.longer_s}
        extensions: dict[str, object] = {"timeout": timeouts}
        headers = _encoded((*place.headers.items(), *request.headers))
        named = {name.lower() for name, _ in headers}
        if b"host" not in named:
            shown = b"[%b]" % host if b":" in host else host
            headers.insert(0, (b"Host", shown if port is None else b"%b:%d" % (shown, port)))
        headers += [(name, value) for name, value in _OWN_HEADERS if name.lower() not in named]
        if not named & {b"content-length", b"transfer-encoding"} and (
            request.body or request.method in _WITH_BODY
        ):
            headers.append((b"Content-Length", b"%d" % len(request.body)))
        if place.connect_to is not None:
            extensions["sni_hostname"] = host.decode("ascii")
            where, _, number = place.connect_to.rpartition(":")
            host, port = where.strip("[]").encode("ascii"), int(number)
        if request.target is not None:
            extensions["target"] = request.target
        url = httpcore.URL(scheme=parts.scheme.encode(), host=host, port=port, target=_target(request.url))
        return httpcore.Request(
            request.method, url, headers=headers, content=request.body, extensions=extensions
        )

    def _pool(self, place: Place, *, alone: bool) -> httpcore.ConnectionPool:
        key = (place.ca_file, place.client_cert, place.connect_to, alone)
        # Many may ask for the first connection of a pool at once, and the pools of all but one would be lost.
        with self._opening:
            if key not in self._pools:
                self._pools[key] = httpcore.ConnectionPool(
                    trust(place),
                    max_connections=_AT_ONCE,
                    max_keepalive_connections=0 if alone else None,
                    keepalive_expiry=KEEPALIVE_S,
                    network_backend=self._network,
                )
            return self._pools[key]


def _encoded(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    """Headers as they go out: Latin-1 is what one may hold at most."""
    try:
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    except UnicodeEncodeError:
        raise Unsendable from None


def _target(url: str) -> bytes:
    """The path and the query of a URL, as they go on the request line."""
    parts = urlsplit(url)
    return quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_TAKEN).encode(
        "ascii"
    )


def _decoder(headers: tuple[tuple[str, str], ...]) -> Callable[[bytes, int], bytes]:
    """What undoes the compression of a body, no further than it is asked to."""
    encodings = [value.strip().lower() for key, value in headers if key.lower() == "content-encoding"]
    if encodings not in (["gzip"], ["deflate"]):
        return lambda chunk, _: chunk
    undoing = zlib.decompressobj(wbits=47)
    return undoing.decompress


def _failure(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"{DISTRUSTED}: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return f"the TLS handshake failed: {cause.reason}"
        if isinstance(cause, ConnectionRefusedError):
            return "the connection was refused"
        if isinstance(cause, ConnectionResetError | BrokenPipeError):
            return "the connection was reset"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore.ConnectError):
        return "no connection could be made"
    if isinstance(error, httpcore.RemoteProtocolError):
        return "the connection was closed, or what came over it is not HTTP"
    return f"no answer: {type(error).__name__}"
