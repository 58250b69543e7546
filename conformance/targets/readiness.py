"""Whether something answers at an address; nothing is asked but that, and nobody is trusted."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CONNECT_S = 1.0


def accepts_connections(host: str, port: int) -> bool:
    """True when something listens there."""
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def any_answers(urls: Iterable[str]) -> Callable[[], bool]:
    """A question to poll: does any of these URLs answer anything yet?"""
    asked = tuple(urls)
    return lambda: any(answers(url) for url in asked)


def answers(url: str, *, patience_s: float = 5.0) -> bool:
    """True when a GET is answered by anything at all, a refused handshake included.

    The certificate is not verified: a wrong one is a finding for the checks, and no reason to wait until the
    time is up. No credential is sent here.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = (
        f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: gateproof\r\nConnection: close\r\n\r\n"
    )
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_S) as plain:
            plain.settimeout(patience_s)
            if parts.scheme != "https":
                return _any_byte(plain, request)
            with _no_questions_asked().wrap_socket(plain, server_hostname=host) as secure:
                return _any_byte(secure, request)
    except ssl.SSLEOFError:
        return False
    except ssl.SSLError:
        return True
    except OSError:
        return False


def _any_byte(connection: socket.socket, request: str) -> bool:
    connection.sendall(request.encode("ascii"))
    return connection.recv(1) != b""


def _no_questions_asked() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
