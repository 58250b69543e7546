"""The proxy of one browser: it terminates TLS, and opens no connections itself."""

from __future__ import annotations

import socket
import socketserver
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.chromium.traffic import address_of, host_of
from gateproof.conformance.wire.exchange import Request

if TYPE_CHECKING:
    from gateproof.conformance.signin.chromium.seal import ProxyCertificate
    from gateproof.conformance.signin.chromium.traffic import Traffic
    from gateproof.conformance.wire.exchange import Answer

# Hop-by-hop headers; and those of compression, because the wire decompresses.
_HOP_BY_HOP = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_LONGEST_BODY = 1024 * 1024
_IDLE_S = 120.0


class Proxy:
    """A listener on loopback that passes requests to the traffic of one browser."""

    def __init__(self, traffic: Traffic, seal: ProxyCertificate) -> None:
        self._server = _Server(traffic, seal)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        serve = {"poll_interval": 0.02}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening, and closes open connections."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, traffic: Traffic, seal: ProxyCertificate) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.traffic = traffic
        self.seal = seal
        self.lines: set[socket.socket] = set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Browsers often abort connections: no error."""

    def server_close(self) -> None:
        super().server_close()
        for line in list(self.lines):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_S
    server: _Server

    def setup(self) -> None:
        super().setup()
        self._tunnel = ""
        self.server.lines.add(self.connection)

    def finish(self) -> None:
        self.server.lines.discard(self.connection)
        with suppress(OSError):
            super().finish()
        with suppress(OSError):
            self.connection.close()

    def do_CONNECT(self) -> None:
        """Starts a TLS tunnel: this proxy itself is the TLS server."""
        self._tunnel = self.path
        self.send_response_only(200)
        self.end_headers()
        self.server.lines.discard(self.connection)
        self.connection = self.server.seal.context.wrap_socket(self.connection, server_side=True)
        self.server.lines.add(self.connection)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb")
        self.close_connection = False

    def relay(self) -> None:
        """Passes one request to the wire, and its answer back."""
        request = self._request()
        # WebSockets and event streams are refused, because they cannot be recorded as one exchange.
        offered = request is not None and not self._wants_stream()
        answer = self.server.traffic.answer(request) if request is not None and offered else None
        if answer is None:
            self.close_connection = True
            return
        self._reply(answer)

    def _wants_stream(self) -> bool:
        accepts = self.headers.get("Accept", "")
        return "Upgrade" in self.headers or accepts.startswith("text/event-stream")

    def _request(self) -> Request | None:
        told = self.headers.get("Content-Length", "0")
        length = int(told) if told.isascii() and told.isdigit() else _LONGEST_BODY + 1
        if length > _LONGEST_BODY or "Transfer-Encoding" in self.headers:
            return None
        body = self.rfile.read(length)
        if self._tunnel:
            url = address_of("https", self._tunnel, self.path)
        else:
            url = address_of("http", host_of(self.path), self.path)
        headers = tuple(
            (name, value)
            for name, value in self.headers.items()
            if name.lower() not in {*_HOP_BY_HOP, "host"}
        )
        return Request(method=self.command, url=url, headers=headers, body=body)

    def _reply(self, answer: Answer) -> None:
        self.send_response_only(answer.status, answer.phrase or None)
        for name, value in answer.headers:
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        bodiless = self.command == "HEAD" or answer.status in {204, 304}
        if not bodiless:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if not bodiless:
            self.wfile.write(answer.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base's
        """No log: the wire records all exchanges."""


for _method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
    setattr(_Handler, f"do_{_method}", _Handler.relay)
