"""The user's browser: a command that agents run, and the delivery of redirects to the agent's callback."""

from __future__ import annotations

import http.client
import os
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import SplitResult, urlsplit

from gateproof.conformance.kit.agent.browser_program import program
from gateproof.conformance.signin.addresses import resolve
from gateproof.conformance.wire.tracing import Tracing

_MOST_OCTETS = 64 * 1024
# The environment may be larger than a page at the callback.
_MOST_OF_A_CALL = 4 * 1024 * 1024
# A call begins with a token and two numbers.
_NUMBERS = 3
# An agent may open the browser first and listen afterwards: a real user takes longer to sign in.
_LISTENS_WITHIN_S = 12.0
# The same if it has listened before: it has probably stopped.
_LISTENS_AGAIN_S = 3.0
_CALLBACK_S = 10.0
_MOST_HOPS = 3
# Returned instead of an HTTP status when the agent read the whole redirect and closed without an answer.
NO_PAGE = 0

# Called with the address and the environment of the browser command.
Opened = Callable[[str, str], bool]


class BrowserCommand:
    """An executable without fixed arguments; an agent runs it with an address to open.

    It takes exactly one address. The launches of an install use it one after the other.
    """

    def __init__(self, folder: Path) -> None:
        self._token = secrets.token_urlsafe(24)
        self._server_socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._opened: Opened | None = None
        self._thread = threading.Thread(target=self._serve, name="browser", daemon=True)
        place = folder / "browser.harness"
        place.touch(mode=0o600)
        place.write_text(f"{self._server_socket.getsockname()[1]} {self._token}")
        self.path = folder / "browser"
        self.path.write_text(program(place))
        self.path.chmod(0o700)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            # Closing the socket does not wake a thread that waits in accept().
            self._server_socket.shutdown(socket.SHUT_RDWR)
        self._server_socket.close()
        self._thread.join(2.0)

    def set_handler(self, opened: Opened | None) -> None:
        """Sets the callback for addresses from now on; its result decides the exit code of the command."""
        self._opened = opened

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server_socket.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        done = False
        with connection, suppress(OSError, ValueError):
            connection.settimeout(5.0)
            token, addresses, _, *texts = map(os.fsdecode, _read_call(connection))
            opened = self._opened
            if token == self._token and opened is not None and addresses == "1" and texts:
                done = opened(texts[0], "\n".join(texts[1:]))
            connection.sendall(b"0" if done else b"1")


class Courier:
    """Delivers redirects to the agent's callback, like a browser that accepts any certificate there.

    It follows further redirects, but not to addresses for which `stops_at` is true. They are in `stopped_at`.
    """

    def __init__(
        self,
        over: threading.Event,
        tracing: Tracing | None = None,
        stops_at: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._over = over
        self._tracing = tracing
        self._stops_at = stops_at
        self.stopped_at: list[str] = []
        self._sent_at: float | None = None
        # True: the browser command returns now, although more deliveries follow. An agent that listens only
        # after its browser command has returned would otherwise wait for itself.
        self.returns_early = False
        self._has_listened = False
        # The answers of the agent's callback, each with its headers: the browser gets cookies and Location.
        self.pages: list[bytes] = []
        # The agent's callback may have a self-signed certificate: no authorities are loaded.
        self._trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._trust.check_hostname, self._trust.verify_mode = False, ssl.CERT_NONE

    def bring(self, url: str) -> int | None:
        """The status of the agent's page, or NO_PAGE; None if nothing accepted the redirect."""
        status: int | None = None
        for _ in range(_MOST_HOPS):
            try:
                parts = urlsplit(url)
                if parts.scheme not in {"http", "https"} or not is_this_machine(parts.hostname):
                    return status
                answer = self._asked(url)
            except ValueError:
                # The address is invalid, for example because of its port: a browser would not open it.
                return status
            if answer is None:
                return status
            status, location = answer
            if location is None or not 300 <= status < 400:
                return status
            url = resolve(url, location)
            if self._stops_at(url):
                self.stopped_at.append(url)
                return status
        return status

    def unanswered_s(self) -> float:
        """Seconds for which the agent has left the current redirect unanswered."""
        since = self._sent_at
        return 0.0 if since is None else time.monotonic() - since

    def wait(self, seconds: float, until: Callable[[], bool] = bool) -> None:
        """Waits until the time is over, the run ends or `until` becomes true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until() and not self._over.wait(0.02):
            pass

    def _asked(self, url: str) -> tuple[int, str | None] | None:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        until = time.monotonic() + (_LISTENS_AGAIN_S if self._has_listened else _LISTENS_WITHIN_S)
        while not self._over.is_set():
            trust, sent = self._trust if parts.scheme == "https" else None, False
            connection = _LocalConnection(parts, trust)
            self._sent_at = time.monotonic()
            try:
                connection.connect()
                self._has_listened = True
                named = self._tracing.headers() if self._tracing is not None else {}
                connection.request("GET", target, headers={"Accept": "text/html", **named})
                sent = True
                response = connection.getresponse()
                headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
                self.pages.append(b"\n".join([headers.encode(), response.read(_MOST_OCTETS)]))
                return response.status, response.headers.get("Location")
            except ConnectionRefusedError:
                self.returns_early = True
                if time.monotonic() > until:
                    return None
                self._over.wait(0.05)
            except (OSError, http.client.HTTPException):
                return (NO_PAGE, None) if sent else None
            finally:
                self._sent_at = None
                connection.close()
        return None


class _LocalConnection(http.client.HTTPConnection):
    """A connection to this machine; host names go to the loopback addresses without a DNS lookup."""

    def __init__(self, parts: SplitResult, trust: ssl.SSLContext | None) -> None:
        self.default_port = http.client.HTTPS_PORT if trust else http.client.HTTP_PORT
        super().__init__(parts.hostname or "", parts.port or self.default_port, timeout=_CALLBACK_S)
        self._trust = trust

    def connect(self) -> None:
        addresses = (self.host,) if _address(self.host) else ("127.0.0.1", "::1")
        refused: list[OSError] = []
        for address in addresses:
            try:
                self.sock = socket.create_connection((address, self.port), _CALLBACK_S)
                break
            except OSError as error:
                refused.append(error)
        else:
            raise refused[0]
        if self._trust is not None:
            self.sock = self._trust.wrap_socket(self.sock, server_hostname=self.host)


def is_this_machine(host: str | None) -> bool:
    """True for loopback hosts (RFC 1122, RFC 6761): the browser opens no others."""
    address = _address(host or "")
    if address is not None:
        return address.is_loopback
    return host == "localhost" or (host or "").endswith(".localhost")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _read_call(connection: socket.socket) -> list[bytes]:
    """The token, how many addresses and how many variables follow, and these; a zero octet ends each.

    Raises ValueError if that does not arrive.
    """
    said, wanted = bytearray(), 0
    while not wanted or said.count(0) < wanted:
        more = connection.recv(65536)
        said += more
        if not more or len(said) > _MOST_OF_A_CALL:
            raise ValueError("no whole call, or an address and an environment of more than 4 MiB")
        if not wanted and said.count(0) >= _NUMBERS:
            numbers = said.split(b"\0", _NUMBERS)[1:_NUMBERS]
            wanted = _NUMBERS + sum(map(int, numbers))
    return bytes(said).split(b"\0")[:wanted]
