"""Persistent connections, and one request over one of them.

The sockets and their exceptions are those of httpcore. Its pool and its use of h11 were a third of what a
request cost: see docs/adr/0006.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from urllib.parse import urlsplit

import httpcore

from gateproof.conformance.wire.bounded import Bounded, Deadline
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.exhausted import raise_if_exhausted
from gateproof.conformance.wire.http1 import Incoming, Outgoing, escaped, exchanged, has_ended
from gateproof.conformance.wire.pool import End, Line, Pool
from gateproof.conformance.wire.route import Place, host_and_port, trust

# The beginning of the failure text if TLS does not accept the other side's certificate.
DISTRUSTED = "the certificate was refused"
MAX_BODY = 4 * 1024 * 1024
# Servers may close idle connections at any time; this is unlikely within this time.
KEEPALIVE_S = 1.0
CONNECT_S = 10.0
_OWN_HEADERS = (
    (b"Accept", b"*/*"),
    # Not deflate, which servers implement in two different ways.
    (b"Accept-Encoding", b"gzip"),
    (b"Connection", b"keep-alive"),
    (b"User-Agent", b"gateproof"),
)
# httpcore knows the schemes of WebSocket as well.
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_SECURE = frozenset({"https", "wss"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


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
        self._pools: dict[tuple[object, ...], Pool] = {}
        self._deadline, self._held_s = Deadline(), held_s
        self._network = Bounded(network or httpcore.SyncBackend(), self._deadline)
        self._opening = Lock()
        # Seconds for which requests were delayed so far to limit their rate.
        self.paced_s = 0.0
        self._timeout_s = timeout_s
        self._waits = {"connect_s": min(timeout_s, CONNECT_S), "wait_s": timeout_s}

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def ask(self, place: Place, request: Request) -> Answer:
        """The answer to one request; raises TooLate, NoAnswer or Unsendable."""
        begun = time.monotonic()
        place.go_ahead()
        self.paced_s += time.monotonic() - begun
        # Reading certificates takes time, which is not the target's.
        self._pool(place, request, alone=request.alone)
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
        line, answer, resent = self._sent(place, request)
        try:
            decode = _decoder(answer.headers)
            chunks = answer.chunks() if request.until is None or not request.until(b"") else ()
            for chunk in chunks:
                body += decode(chunk, MAX_BODY + 1 - len(body))
                if len(body) > MAX_BODY:
                    raise NoAnswer(f"no answer: the body is longer than {MAX_BODY} bytes")
                if request.until is not None and request.until(bytes(body)):
                    break
        finally:
            line.give_back(keep=answer.allows_another())
        return Answer(
            status=answer.status,
            headers=answer.headers,
            body=bytes(body),
            elapsed_s=time.monotonic() - started,
            phrase=answer.phrase,
            resent=resent,
            version=answer.version,
        )

    def _sent(self, place: Place, request: Request) -> tuple[Line, Incoming, bool]:
        """The answer and its connection, and whether the request was sent twice.

        A server may end a kept connection at any moment. If such a connection ends before a byte of the
        answer, the request goes out once more, on a new connection (RFC 9112, 9.3.1).
        """
        line: Line | None = None
        try:
            outgoing, end = self._prepared(place, request)
            line = self._pool(place, request, alone=request.alone).take(end, **self._waits)
            return line, self._begun(line, outgoing, request), False
        except (httpcore.ReadError, httpcore.RemoteProtocolError) as error:
            if line is None or line.is_new or not has_ended(error):
                raise
        outgoing, end = self._prepared(place, request)
        line = self._pool(place, request, alone=True).take(end, **self._waits)
        return line, self._begun(line, outgoing, request), True

    def _begun(self, line: Line, outgoing: Outgoing, request: Request) -> Incoming:
        """The answer as soon as its head has been received."""
        try:
            read_s = self._timeout_s + request.longer_s
            return exchanged(line.stream, outgoing, write_s=self._timeout_s, read_s=read_s)
        except BaseException:
            line.give_back(keep=False)
            raise

    def _prepared(self, place: Place, request: Request) -> tuple[Outgoing, End]:
        """The request as octets, and where it goes."""
        parts = urlsplit(request.url)
        hostname, port = host_and_port(parts.netloc)
        host = _name_in_ascii(hostname)
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
        target = _target(request.url) if request.target is None else request.target
        outgoing = Outgoing(request.method.encode("ascii"), target, headers, request.body)
        return outgoing, _end(place, request.url, host.decode("ascii"))

    def _pool(self, place: Place, request: Request, *, alone: bool) -> Pool:
        is_secure = urlsplit(request.url).scheme in _SECURE
        key = (is_secure, place.ca_file, place.client_cert, place.connect_to, alone)
        # Threads may create the pool at the same time; only one pool must be kept.
        with self._opening:
            if key not in self._pools:
                context = trust(place) if is_secure else None
                self._pools[key] = Pool(context, self._network, keep_s=0.0 if alone else KEEPALIVE_S)
            return self._pools[key]


@lru_cache(maxsize=256)
def _name_in_ascii(host: str) -> bytes:
    return host.encode("idna")


def _end(place: Place, url: str, name: str) -> End:
    """Where a request for this URL goes; `name` is its host in the certificate."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        raise httpcore.UnsupportedProtocol
    hostname, port = host_and_port(parts.netloc)
    host = name
    if place.connect_to is not None or place.is_own_name(hostname):
        host, port = place.address(url)
    tls_name = name if parts.scheme in _SECURE else None
    return End(host=host, port=port or _PORTS[parts.scheme], tls_name=tls_name)


def _encoded(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    """Encodes headers as Latin-1, which is all that they may contain."""
    try:
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    except UnicodeEncodeError:
        raise Unsendable from None


def _target(url: str) -> bytes:
    """Path and query of a URL, encoded for the request line."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return escaped(target).encode("ascii")


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
