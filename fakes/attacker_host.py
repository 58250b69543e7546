"""The attacker's host: a server that no party should call. It records every request, to find leaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from gateproof.fakes.loopback import LoopbackServer

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


class AttackerHost(LoopbackServer):
    """Listens on loopback inside its `with` block, over TLS if it has a certificate."""

    def __init__(self, certificate: tuple[str, str] | None) -> None:
        self.received: list[ReceivedRequest] = []
        super().__init__(self._handler(), certificate)
        self.url = f"{self.origin}/token"

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
