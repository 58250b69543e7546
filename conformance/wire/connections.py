"""Persistent connections, and one request over one of them.

This uses httpcore, on which httpx is built. A run sends thousands of small requests, and what httpx adds
(cookies, redirects, header and URL models) would have to be disabled anyway.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Callable
from threading import Lock
from urllib.parse import quote, urlsplit

import httpcore

from gateproof.conformance.wire.bounded import Bounded, Deadline
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.exhausted import raise_if_exhausted
from gateproof.conformance.wire.route import Place, trust

# The beginning of the failure text if TLS does not accept the other side's certificate.
DISTRUSTED = "the certificate was refused"
MAX_BODY = 4 * 1024 * 1024
# Servers may close idle connections at any time; this is unlikely within this time.
KEEPALIVE_S = 1.0
_AT_ONCE = 100
# The message of httpcore for a connection that ended before an answer.
_NO_BYTE = "Server disconnected without sending a response."
CONNECT_S = 10.0
_OWN_HEADERS = (
    (b"Accept", b"*/*"),
    # Not deflate, which servers implement in two different ways.
    (b"Accept-Encoding", b"gzip"),
    (b"Connection", b"keep-alive"),
    (b"User-Agent", b"gateproof"),
)
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# Characters that strict servers accept on a request line; others are percent-encoded.
_UNESCAPED = "!$%&'()*+,;=:@/?[]"


class TooLate(Exception):
    """No answer came in time; `connected` is false if not even a connection was made."""

    def __init__(self, *, connected: bool) -> None:
        super().__init__("no answer in time")
        self.connected = connected


class NoAnswer(Exception):
    """No valid answer came. The text omits the library's message, which may contain URLs or headers."""


class Unsendable(Exception):
    """The request cannot be sent over HTTP, for example because a credential ends in a space."""

    def __init__(self) -> None:
        super().__init__("a value is not allowed in a header")


class Connections:
    """One connection pool per way to reach a host; `network` opens connections in another way.

    `timeout_s` is the time for a whole request. `held_s` is how long the network itself may hold it back.
    """

    def __init__(
        self, *, timeout_s: float, network: httpcore.NetworkBackend | None = None, held_s: float = 0.0
    ) -> None:
        self._pools: dict[tuple[object, ...], httpcore.ConnectionPool] = {}
        self._deadline, self._held_s = Deadline(), held_s
        self._network = Bounded(network or httpcore.SyncBackend(), self._deadline)
        self._opening = Lock()
        # Seconds for which requests were delayed so far to limit their rate.
        self.paced_s = 0.0
        self._timeout_s = timeout_s
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
        """The answer to one request; raises TooLate, NoAnswer or Unsendable."""
        begun = time.monotonic()
        place.go_ahead()
        self.paced_s += time.monotonic() - begun
        # Reading certificates takes time, which is not the target's.
        self._pool(place, alone=request.alone)
        try:
            with self._deadline.within(self._timeout_s + request.longer_s + self._held_s):
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
            raise_if_exhausted(error)
            raise NoAnswer(_failure(error)) from None

    def _ask(self, place: Place, request: Request) -> Answer:
        started, body = time.monotonic(), bytearray()
        answer, resent = self._sent(place, request)
        try:
            headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in answer.headers)
            decode = _decoder(headers)
            for chunk in answer.iter_stream():
                body += decode(chunk, MAX_BODY + 1 - len(body))
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
            resent=resent,
        )

    def _sent(self, place: Place, request: Request) -> tuple[httpcore.Response, bool]:
        """The answer, and whether the request was sent twice.

        A server may end a kept connection at any moment. If such a connection ends before a byte of the
        answer, the request goes out once more, on a new connection (RFC 9112, 9.3.1).
        """
        opened: list[str] = []
        try:
            pool = self._pool(place, alone=request.alone)
            return pool.handle_request(self._prepared(place, request, opened)), False
        except (httpcore.ReadError, httpcore.RemoteProtocolError) as error:
            if opened or not _has_ended(error):
                raise
            pool = self._pool(place, alone=True)
            return pool.handle_request(self._prepared(place, request, opened)), True

    def _prepared(self, place: Place, request: Request, opened: list[str]) -> httpcore.Request:
        """The request for httpcore; `opened` gets an entry for each connection that it opens."""
        parts = urlsplit(request.url)
        host, port = (parts.hostname or "").encode("idna"), parts.port
        timeouts = self._timeouts
        if request.longer_s:
            timeouts = {**timeouts, "read": self._timeout_s + request.longer_s}
        extensions: dict[str, object] = {"timeout": timeouts, "trace": _noting_connections(opened)}
        headers = _encoded((*place.headers_for_a_request().items(), *request.headers))
        named = {name.lower() for name, _ in headers}
        if b"host" not in named:
            shown = b"[%b]" % host if b":" in host else host
            headers.insert(0, (b"Host", shown if port is None else b"%b:%d" % (shown, port)))
        if not request.accept:
            named.add(b"accept")
        headers += [(name, value) for name, value in _OWN_HEADERS if name.lower() not in named]
        if not named & {b"content-length", b"transfer-encoding"} and (
            request.body or request.method in _WITH_BODY
        ):
            headers.append((b"Content-Length", b"%d" % len(request.body)))
        if place.connect_to is not None or place.is_own_name(parts.hostname or ""):
            extensions["sni_hostname"] = host.decode("ascii")
            where, port = place.address(request.url)
            host = where.encode("ascii")
        if request.target is not None:
            extensions["target"] = request.target
        url = httpcore.URL(scheme=parts.scheme.encode(), host=host, port=port, target=_target(request.url))
        return httpcore.Request(
            request.method, url, headers=headers, content=request.body, extensions=extensions
        )

    def _pool(self, place: Place, *, alone: bool) -> httpcore.ConnectionPool:
        key = (place.ca_file, place.client_cert, place.connect_to, alone)
        # Threads may create the pool at the same time; only one pool must be kept.
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


def _noting_connections(opened: list[str]) -> Callable[[str, object], None]:
    def note(event: str, _: object) -> None:
        if event.startswith("connection.connect_") and event.endswith(".started"):
            opened.append(event)

    return note


def _has_ended(error: Exception) -> bool:
    """True if the connection ended before an answer; false for an answer that is not HTTP."""
    return isinstance(error, httpcore.ReadError) or str(error) == _NO_BYTE


def _encoded(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    """Encodes headers as Latin-1, which is all that they may contain."""
    try:
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    except UnicodeEncodeError:
        raise Unsendable from None


def _target(url: str) -> bytes:
    """Path and query of a URL, encoded for the request line."""
    parts = urlsplit(url)
    return quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_UNESCAPED).encode(
        "ascii"
    )


def _decoder(headers: tuple[tuple[str, str], ...]) -> Callable[[bytes, int], bytes]:
    """A function that decompresses a body up to a limit."""
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
