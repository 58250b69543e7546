"""Tests whether a server answers at an address; certificates are not verified."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CONNECT_S = 1.0
# The length of "HTTP/1.1 502", and the statuses of a proxy whose servers are not there yet.
_STATUS_LINE, _NOT_UP_YET = 12, (b"502", b"503", b"504")


def accepts_connections(host: str, port: int) -> bool:
    """True if a server listens there."""
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def any_answers(urls: Iterable[str]) -> Callable[[], bool]:
    """A function to poll: does any of these URLs answer yet?"""
    asked = tuple(urls)
    return lambda: any(answers(url) for url in asked)


def answers(url: str, *, patience_s: float = 5.0) -> bool:
    """True if a GET gets any answer, even a failed TLS handshake.

    The certificate is not verified: a wrong one is for the checks to find, and waiting would not change it.
    No credential is sent here.
    """
    try:
        return _first_bytes(url, patience_s) != b""
    except ssl.SSLEOFError:
        return False
    except ssl.SSLError:
        return True
    except OSError:
        return False


def is_behind_a_proxy_that_waits(url: str, *, patience_s: float = 5.0) -> bool:
    """True if a GET gets the answer of a proxy that does not reach the server behind it."""
    try:
        return _first_bytes(url, patience_s).partition(b" ")[2] in _NOT_UP_YET
    except OSError:
        return False


def _first_bytes(url: str, patience_s: float) -> bytes:
    """The beginning of the answer to a GET, up to its status; empty if the connection ends without one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = (
        f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: gateproof\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((host, port), timeout=_CONNECT_S) as plain:
        plain.settimeout(patience_s)
        if parts.scheme != "https":
            return _exchanged(plain, request)
        with _unverified().wrap_socket(plain, server_hostname=host) as secure:
            return _exchanged(secure, request)


def _exchanged(connection: socket.socket, request: str) -> bytes:
    connection.sendall(request.encode("ascii"))
    begun = b""
    while len(begun) < _STATUS_LINE and (more := connection.recv(_STATUS_LINE - len(begun))):
        begun += more
    return begun


def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
