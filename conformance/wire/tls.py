"""One TLS handshake or plain request over its own socket, and its outcome."""

from __future__ import annotations

import socket
import ssl
import warnings
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.exhausted import raise_if_exhausted
from gateproof.conformance.wire.route import Place, trust

OLD = {"TLS 1.0": ssl.TLSVersion.TLSv1, "TLS 1.1": ssl.TLSVersion.TLSv1_1}
_MOST_OCTETS = 16 * 1024

Outcome = Literal["done", "refused", "closed", "silent", "distrusted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """The outcome of a handshake or plain request, with details."""

    outcome: Outcome
    detail: str
    answer: bytes = b""


def handshake(place: Place, url: str, *, version: ssl.TLSVersion | None, timeout_s: float) -> Taken:
    """A handshake that trusts the CA of the target file; with a version, limited to that version."""
    context = trust(place) if version is None else only(version, place)
    place.go_ahead()
    try:
        with socket.create_connection(place.address(url), timeout=timeout_s) as plain:
            plain.settimeout(timeout_s)
            with context.wrap_socket(plain, server_hostname=urlsplit(url).hostname) as secure:
                return Taken(outcome="done", detail=f"a handshake with {secure.version()}")
    except ssl.SSLCertVerificationError as error:
        return Taken(outcome="distrusted", detail=f"the certificate is not valid: {error.verify_message}")
    except ssl.SSLEOFError:
        return Taken(outcome="closed", detail="the connection was closed")
    except ssl.SSLError as error:
        return Taken(outcome="refused", detail=f"the handshake failed: {error.reason}")
    except TimeoutError:
        return Taken(outcome="silent", detail=f"nothing within {timeout_s:g} s")
    except OSError as error:
        raise_if_exhausted(error)
        return Taken(outcome="closed", detail="the connection was closed")


def only(version: ssl.TLSVersion, place: Place | None = None) -> ssl.SSLContext:
    """A client context for one old version at the lowest security level; it accepts any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _limit(context, version)
    if place is not None and place.client_cert is not None:
        context.load_cert_chain(*place.client_cert)
    return context


def can_speak(version: ssl.TLSVersion, certificate: tuple[str, str]) -> bool:
    """True if this machine's TLS library supports the version."""
    try:
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(*certificate)
        _limit(server, version)
        ours, theirs = ssl.MemoryBIO(), ssl.MemoryBIO()
        sides = (
            only(version).wrap_bio(theirs, ours),
            server.wrap_bio(ours, theirs, server_side=True),
        )
        return _agreed(sides)
    except (ssl.SSLError, ValueError):
        return False


def plain_request(place: Place, request: Request, *, timeout_s: float) -> Taken:
    """A plain HTTP request to the TLS port, and what comes back."""
    received = bytearray()
    place.go_ahead()
    try:
        with socket.create_connection(place.address(request.url), timeout=timeout_s) as plain:
            plain.sendall(_in_the_clear(request))
            while len(received) < _MOST_OCTETS and (octets := plain.recv(4096)):
                received += octets
    except TimeoutError:
        if not received:
            return Taken(outcome="silent", detail=f"nothing within {timeout_s:g} s, and no close either")
    except OSError as error:
        raise_if_exhausted(error)
        # A reset is a way to close; what came before it counts
    return _read(bytes(received))


def _in_the_clear(request: Request) -> bytes:
    parts = urlsplit(request.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc), ("Connection", "close"), ("User-Agent", "gateproof"), *request.headers]
    if request.body:
        headers.append(("Content-Length", f"{len(request.body)}"))
    lines = [f"{request.method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + request.body


def _read(received: bytes) -> Taken:
    if not received:
        return Taken(outcome="closed", detail="the connection was closed")
    # The record type of an alert, and the major version of all TLS versions.
    if received[:2] == b"\x15\x03":
        return Taken(outcome="refused", detail="a TLS alert")
    words = received.split(b"\r\n", 1)[0].split(b" ", 2)
    if received.startswith(b"HTTP/") and len(words) > 1 and words[1].isdigit():
        status = int(words[1])
        outcome: Outcome = "refused" if 400 <= status < 500 else "done"
        return Taken(outcome=outcome, detail=f"status {status} over plain HTTP", answer=received)
    return Taken(outcome="done", detail=f"{len(received)} bytes in the clear", answer=received)


def _limit(context: ssl.SSLContext, version: ssl.TLSVersion) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = version
        context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")


def _agreed(sides: tuple[ssl.SSLObject, ssl.SSLObject]) -> bool:
    waiting = list(sides)
    for _ in range(20):
        for side in list(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.remove(side)
        if not waiting:
            return True
    return False
