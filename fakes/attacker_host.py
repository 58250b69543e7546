"""A server that no party has to call. It records every request, to show what was leaked to it."""

from __future__ import annotations

import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

MOST_OCTETS = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceivedRequest:
    """One request to the attacker's host."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    def text(self) -> str:
        lines = [f"{self.method} {self.path}", *(f"{name}: {value}" for name, value in self.headers), ""]
        return "\n".join(lines) + self.body.decode("latin-1")


class AttackerHost:
    """Listens on loopback inside its `with` block, over TLS if it has a certificate."""

    def __init__(self, certificate: tuple[str, str] | None) -> None:
        self.received: list[ReceivedRequest] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/token"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join(5)
        self._server.server_close()

    def _handler(host) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's, inside
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 10

            def do_GET(self) -> None:
                self._take()

            def do_POST(self) -> None:
                self._take()

            def _take(self) -> None:
                length = self.headers.get("Content-Length", "0")
                body = self.rfile.read(min(int(length), MOST_OCTETS)) if length.isdigit() else b""
                request = ReceivedRequest(
                    method=self.command, path=self.path, headers=tuple(self.headers.items()), body=body
                )
                host.received.append(request)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *arguments: object) -> None:
                """Logs nothing: the requests are in `received`."""

        return Handler
